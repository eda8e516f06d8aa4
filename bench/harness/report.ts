/** @module report.json: what was found, in medians, without a word about the machine but its Node and its cores. */

import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { median } from './median.js'
import type { Found, Judgement } from './suite.js'

export async function writeReport(
  file: URL,
  judgements: readonly Judgement[],
  found: ReadonlyMap<string, Found>,
): Promise<void> {
  const report = {
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    cpus: availableParallelism(),
    budgets: judgements.filter(({ budget }) => budget !== undefined),
    beside: judgements.filter(({ budget }) => budget === undefined),
    /** Nanoseconds an operation, medians of rounds. Ratios above are medians of each round's ratio instead. */
    medians: [...found].flatMap(([suite, cases]) =>
      Object.entries(cases).map(([name, { timings, figures }]) => ({
        suite,
        case: name,
        rounds: Math.max(...Object.values(timings).map((values) => values.length), 1),
        nanoseconds: Object.fromEntries(Object.entries(timings).map(([key, values]) => [key, rounded(median(values))])),
        ...(figures && { figures }),
      })),
    ),
  }
  await writeFile(file, `${JSON.stringify(report, undefined, 1)}\n`)
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}
