/** @module The command line of the launchers: which runtimes, and where the summary goes. */

import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { Runtime } from './runtime.js'
import { runRuntimes } from './summary.js'

/**
 * Runs the runtimes that the arguments name, or those in `byDefault`; the exit status tells whether all is well.
 *
 *     [NAME …] [--json FILE]
 */
export async function runFromCommandLine(known: readonly Runtime[], byDefault: readonly Runtime[]): Promise<void> {
  const { values, positionals } = parseArgs({ options: { json: { type: 'string' } }, allowPositionals: true })
  const unknown = positionals.filter((wanted) => !known.some(({ name }) => isMeant(name, wanted)))
  if (unknown.length > 0) {
    console.error(`there is no runtime ${unknown.join(', ')}; known: ${known.map(({ name }) => name).join(', ')}`)
    process.exitCode = 1
    return
  }
  const chosen =
    positionals.length === 0
      ? byDefault
      : known.filter(({ name }) => positionals.some((wanted) => isMeant(name, wanted)))
  const summary = await runRuntimes(chosen)
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(summary, undefined, 2)}\n`)
  process.exitCode = summary.ok ? 0 : 1
}

/** `workerd` means it at all its dates. */
function isMeant(name: string, wanted: string): boolean {
  return name === wanted || name.replace(/-\d{4}-\d{2}-\d{2}$/, '') === wanted
}
