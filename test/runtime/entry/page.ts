/** @module The conformance as a page: context from its server, report back to it. */

import { runAll } from '../../conformance/run.js'
import { exchange } from './exchange.js'

exchange((context) => runAll(context))
