/** @module The process that one case is measured in: `case.ts <suite> <case> <effort as JSON>` answers JSON. */

import { SUITES } from '../suites.js'
import type { Effort } from './rounds.js'

const [suiteName = '', caseName = '', effort = ''] = process.argv.slice(2)
const suite = await SUITES[suiteName]?.()
if (suite === undefined) throw new Error(`there is no suite "${suiteName}"`)
const measured = await suite.measure(caseName, JSON.parse(effort) as Effort)
process.stdout.write(JSON.stringify(measured))
