/** @module What a launcher gives: a runtime by name, and its report. */

import type { Context, Report } from '../conformance/case.js'
import { startBackends } from './backends.js'
import { withConsumer } from './consumer.js'

export interface Runtime {
  /** One word, as it stands in the summary. */
  name: string
  /** Runs the conformance there. Rejects if the runtime can't be started or gives no report. */
  launch(): Promise<Report>
}

/** A runtime whose launcher needs the servers and a project that has evenkeel installed. Both are gone afterwards. */
export function runtimeOf(
  name: string,
  lacks: Context['lacks'],
  launch: (context: Context, folder: string) => Promise<Report>,
): Runtime {
  return {
    name,
    async launch() {
      const { backends, stop } = await startBackends()
      try {
        return await withConsumer((folder) => launch({ runtime: name, backends, lacks }, folder))
      } finally {
        await stop()
      }
    },
  }
}

/** Counts a check of the launcher's own as one more case. */
export async function addCase(report: Report, name: string, check: () => Promise<void>): Promise<void> {
  try {
    await check()
    report.passed++
  } catch (error) {
    report.failed.push({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
