/**
 * `npm run bench` measures every suite, prints each budget with what was measured, and writes report.json.
 * `tsx bench/run.ts core fetch` measures the named suites, `--quick` only a little of each; neither writes.
 * Never fails because something is slow.
 */

import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { measureFresh } from './harness/fresh-process.js'
import { writeReport } from './harness/report.js'
import type { Effort } from './harness/rounds.js'
import type { Found, Judgement, Measured, Suite } from './harness/suite.js'
import { besideTable, budgetTable } from './harness/tables.js'
import { SUITES } from './suites.js'

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true })
const unknown = positionals.filter((name) => !(name in SUITES))
if (unknown.length > 0) {
  console.error(`there is no suite "${unknown.join('", "')}"; known: ${Object.keys(SUITES).join(', ')}`)
  process.exit(1)
}

const found = new Map<string, Found>()
const judgements: Judgement[] = []
const leftOut: string[] = []
for (const [name, load] of Object.entries(SUITES)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const suite = await load()
  try {
    suite.prepare?.()
  } catch (error) {
    console.error(`${name} is left out: ${error instanceof Error ? error.message : error}`)
    leftOut.push(name)
    continue
  }
  const cases = await measure(name, suite)
  found.set(name, cases)
  judgements.push(...suite.judge(cases))
}
console.log(budgetTable(judgements))
console.log(besideTable(judgements))
if (values.quick) console.log('all of it runs; the figures of so few rounds mean nothing')
else if (positionals.length > 0 || leftOut.length > 0) console.log('report.json stays as it was: it holds whole runs')
else await writeReport(new URL('./report.json', import.meta.url), judgements, found)

async function measure(name: string, suite: Suite): Promise<Found> {
  const effort = values.quick ? briefer(suite.effort) : suite.effort
  const start = performance.now()
  const left = suite.cases.slice()
  const cases: Record<string, Measured> = {}
  const work = async () => {
    for (let each = left.shift(); each !== undefined; each = left.shift()) {
      cases[each.name] = await measureFresh(name, each, effort)
    }
  }
  // Where nothing is to be learnt but that it runs, cases need not be alone.
  await Promise.all(Array.from({ length: values.quick ? availableParallelism() : 1 }, work))
  console.log(`${name}: ${effort.rounds} rounds, ${((performance.now() - start) / 1000).toFixed(1)} s`)
  return cases
}

function briefer({ rounds, calls, warmUpMs }: Effort): Effort {
  return { rounds: Math.min(rounds, 2), calls: Math.min(calls, 1), warmUpMs: warmUpMs / 6 }
}
