/** @module Measures one case in a process of its own. */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Effort } from './rounds.js'
import type { Measured, Suite } from './suite.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = fileURLToPath(new URL('./case.ts', import.meta.url))

export async function measureFresh(
  suiteName: string,
  { name, on }: Suite['cases'][number],
  effort: Effort,
): Promise<Measured> {
  const args = [PROGRAM, suiteName, name, JSON.stringify(effort)]
  // This process runs TypeScript already, by whatever flags it was started with.
  const [command, ...flags] =
    on === 'bun' ? [join(ROOT, 'node_modules/.bin/bun')] : [process.execPath, ...process.execArgv]
  const { stdout } = await run(command as string, [...flags, ...args], { cwd: ROOT, maxBuffer: 2 ** 26 })
  return JSON.parse(stdout) as Measured
}
