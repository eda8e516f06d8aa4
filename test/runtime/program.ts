/** @module Programs that print the report of the conformance as a line of their own. */

import type { Context, Report } from '../conformance/case.js'
import { type Child, type ChildOptions, resultOf, startChild } from './child.js'
import { type Bundle, bundle } from './consumer.js'
import { addCase } from './runtime.js'

/** What a program that has printed its report gets to end. */
const END_MS = 5_000

export interface Program {
  command: string
  /** What comes before the program's own path. */
  args?: readonly string[]
  env?: Record<string, string>
  core?: NonNullable<Bundle['core']>
}

/** Runs the conformance on a runtime that resolves evenkeel itself: Node, Deno, Bun. */
export async function reportOf(program: Program, context: Context, folder: string): Promise<Report> {
  const { command, args = [], env = {}, core = 'evenkeel' } = program
  const file = await bundle(folder, { entry: 'process', core, external: true })
  return reportFrom(command, [...args, file, JSON.stringify(context)], { cwd: folder, env })
}

/** Starts the program, and checks that it ends by itself: evenkeel keeps no process alive. */
export async function reportFrom(command: string, args: readonly string[], options: ChildOptions): Promise<Report> {
  const child = startChild(command, args, options)
  const reported = reportLine(child).then(async (report) => {
    await addCase(report, 'the process ends by itself', () => endOf(child))
    return report
  })
  return resultOf(child, command, reported)
}

function reportLine(child: Child): Promise<Report> {
  return new Promise((resolve) => {
    child.process.stdout?.on('data', () => {
      const line = /^\{"runtime":.*\}\n/m.exec(child.stdout())?.[0]
      if (line !== undefined) resolve(JSON.parse(line) as Report)
    })
  })
}

async function endOf(child: Child): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it still runs ${END_MS} ms after its report`)), END_MS)
  })
  await Promise.race([child.ended, late]).finally(() => clearTimeout(timer))
}
