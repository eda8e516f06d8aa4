/**
 * @module From nothing to the first pick in a fresh process: import, decode, compile, instantiate, pick; beyond what the
 * runtime takes to import an empty package. Both are installed as a user has them, in a folder of their own.
 */

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { excess, middle } from '../harness/median.js'
import type { Timings } from '../harness/rounds.js'
import { caseOf, type Suite } from '../harness/suite.js'
import { ms } from '../harness/text.js'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAMS = { 'first pick': 'first-pick.mjs', 'empty import': 'empty-import.mjs' } as const

/** How each runtime runs a program, asking for no permission. */
const RUNTIMES: Record<string, readonly [command: string, ...args: string[]]> = {
  Node: [process.execPath],
  Deno: ['deno', 'run', '--no-prompt'],
  Bun: ['bun', 'run'],
}

export const firstPick: Suite = {
  cases: Object.keys(RUNTIMES).map((name) => ({ name })),
  effort: { rounds: 15, calls: 1, warmUpMs: 0 },
  async measure(runtime, { rounds }) {
    const folder = await install()
    try {
      const timings: Timings = { 'first pick': [], 'empty import': [] }
      // The first round of each finds cold files.
      for (let round = -1; round < rounds; round++) {
        const programs = Object.entries(PROGRAMS)
        for (const [name, program] of round % 2 === 0 ? programs : programs.reverse()) {
          const milliseconds = await timeOf(runtime, folder, program)
          if (round >= 0) timings[name]?.push(milliseconds * 1e6)
        }
      }
      return { timings }
    } finally {
      await rm(folder, { recursive: true })
    }
  },
  judge: (found) =>
    Object.keys(RUNTIMES).map((runtime) => {
      const { timings } = caseOf(found, runtime)
      const beyond = excess(timings, 'first pick', 'empty import') / 1e6
      return {
        what: `first pick in a fresh process, ${runtime}, beyond importing an empty package`,
        budget: '≤ 5 ms',
        measured: `${ms(beyond)} (${ms(middle(timings, 'first pick') / 1e6)} in all)`,
        met: beyond <= 5,
      }
    }),
}

async function install(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-first-pick-'))
  const packages = join(folder, 'node_modules')
  await mkdir(join(packages, 'empty'), { recursive: true })
  await writeFile(
    join(packages, 'empty/package.json'),
    '{"name":"empty","version":"1.0.0","type":"module","exports":"./index.js"}',
  )
  await writeFile(join(packages, 'empty/index.js'), 'export {}\n')
  await cp(join(ROOT, 'package.json'), join(packages, 'evenkeel/package.json'))
  await cp(join(ROOT, 'dist'), join(packages, 'evenkeel/dist'), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"module","dependencies":{"empty":"1.0.0","evenkeel":"*"}}')
  for (const program of Object.values(PROGRAMS)) {
    await cp(fileURLToPath(new URL(`../programs/${program}`, import.meta.url)), join(folder, program))
  }
  return folder
}

async function timeOf(runtime: string, cwd: string, program: string): Promise<number> {
  const [command, ...args] = RUNTIMES[runtime] as [string, ...string[]]
  const PATH = join(ROOT, 'node_modules/.bin') + delimiter + process.env.PATH
  const { stdout } = await run(command, [...args, program], { cwd, env: { ...process.env, PATH } })
  return Number(stdout)
}
