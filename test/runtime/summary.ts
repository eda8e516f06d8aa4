/** @module What is printed of the reports, and whether all is well. */

import type { Report } from '../conformance/case.js'
import type { Runtime } from './runtime.js'

export interface Summary {
  runtimes: { runtime: string; passed: number; failed: number; skipped: number }[]
  /** Runtimes that gave no report, with the reason. */
  missing: { runtime: string; error: string }[]
  digests: Record<string, string>
  digestsEqual: boolean
  ok: boolean
}

/** Launches the runtimes one after the other, printing each one's failures in full as they come. */
export async function runRuntimes(runtimes: readonly Runtime[]): Promise<Summary> {
  const reports: Report[] = []
  const missing: Summary['missing'] = []
  for (const { name, launch } of runtimes) {
    try {
      const report = await launch()
      reports.push(report)
      printFailures(report)
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      missing.push({ runtime: name, error: text })
      console.log(`\n${name} gave no report: ${text}`)
    }
  }
  const summary = summaryOf(reports, missing)
  printSummary(reports, summary)
  return summary
}

function printFailures({ runtime, failed, skipped }: Report): void {
  for (const { name, error } of failed) console.log(`\n${runtime} ✗ ${name}\n${error.replace(/^/gm, '    ')}`)
  for (const { name, reason } of skipped) console.log(`\n${runtime} left out: ${name}\n    ${reason}`)
}

function summaryOf(reports: readonly Report[], missing: Summary['missing']): Summary {
  const picking = reports.filter(picks)
  const digests = picking[0]?.digests ?? {}
  const digestsEqual = picking.every((report) => sameDigests(report.digests, digests))
  return {
    runtimes: reports.map(({ runtime, passed, failed, skipped }) => ({
      runtime,
      passed,
      failed: failed.length,
      skipped: skipped.length,
    })),
    missing,
    digests,
    digestsEqual,
    ok: missing.length === 0 && digestsEqual && reports.every(({ failed }) => failed.length === 0),
  }
}

function printSummary(reports: readonly Report[], { missing, digests, digestsEqual }: Summary): void {
  console.log('')
  for (const { runtime, passed, failed } of reports) {
    console.log(`${runtime}: ${passed} passed, ${failed.length} failed`)
  }
  for (const { runtime } of missing) console.log(`${runtime}: 0 passed, 1 failed`)
  const picking = reports.filter(picks)
  if (picking.length === 0) return
  console.log('\ndigests of 100 000 seeded picks')
  for (const [policy, digest] of Object.entries(digests)) console.log(`  ${policy.padEnd(24)} ${digest}`)
  if (digestsEqual) return console.log(`equal on all of ${picking.map(({ runtime }) => runtime).join(', ')}`)
  for (const report of picking) {
    if (!sameDigests(report.digests, digests)) {
      console.log(`NOT equal: ${report.runtime} has ${JSON.stringify(report.digests)}`)
    }
  }
}

function picks(report: Report): report is Report & Required<Pick<Report, 'digests'>> {
  return report.digests !== undefined
}

function sameDigests(a: Record<string, string>, b: Record<string, string>): boolean {
  const policies = Object.keys(a)
  return policies.length === Object.keys(b).length && policies.every((policy) => a[policy] === b[policy])
}
