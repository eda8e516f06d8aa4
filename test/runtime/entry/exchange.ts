/** @module What a page and its server say to each other. */

import type { Context, Report } from '../../conformance/case.js'

/** Runs with the context that the page's server gives, and sends it the report, or why there is none. */
export async function exchange(run: (context: Context) => Promise<Report>): Promise<void> {
  let answer: unknown
  try {
    answer = await run((await (await fetch('/context')).json()) as Context)
  } catch (error) {
    answer = { error: `${error}\n${(error as Error).stack ?? ''}` }
  }
  await fetch('/report', { method: 'POST', body: JSON.stringify(answer) })
}
