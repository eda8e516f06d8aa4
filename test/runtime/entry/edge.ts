/** @module The conformance as a script of an edge VM, which has no modules: a global function. */

import type { Context } from '../../conformance/case.js'
import { runAll } from '../../conformance/run.js'

Object.assign(globalThis, { conformance: (context: Context) => runAll(context, (name) => console.error(name)) })
