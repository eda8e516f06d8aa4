/** @module Processes that a launcher starts: with a time limit, and always stopped. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

export const LIMIT_MS = 120_000
/** Of stderr, in an error. */
const MOST_LINES = 60
/** What a process that is asked to end gets before it is made to. */
const GRACE_MS = 3_000

export interface ChildOptions {
  cwd: string
  env?: Record<string, string>
  stdio?: StdioOptions
}

export interface Child {
  process: ChildProcess
  /** Rejects if it could not be started. */
  ended: Promise<number | null>
  stdout(): string
  stderr(): string
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Starts a process in a group of its own, so that what it starts ends with it. */
export function startChild(command: string, args: readonly string[], options: ChildOptions): Child {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: options.cwd, NO_COLOR: '1', ...options.env },
    stdio: options.stdio ?? ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  running.add(child)
  const stdout = collected(child.stdout)
  const stderr = collected(child.stderr)
  const ended = once(child, 'close').then(
    ([code]: (number | null)[]) => {
      running.delete(child)
      return code ?? null
    },
    (cause: Error) => {
      running.delete(child)
      throw new Error(`${command} could not be started: ${cause.message}`, { cause })
    },
  )
  ended.catch(() => {})
  return {
    process: child,
    ended,
    stdout,
    stderr,
    async stop() {
      if (!running.has(child)) return
      signalGroup(child, 'SIGTERM')
      const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS)
      await ended.catch(() => {})
      clearTimeout(timer)
    },
  }
}

/**
 * Waits for `result` of a child, no longer than the time limit and not after its end, then stops it.
 * @throws with what the child wrote to stderr
 */
export async function resultOf<T>(child: Child, what: string, result: Promise<T>, limitMs = LIMIT_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${limitMs / 1000} s`)), limitMs)
  })
  const end = child.ended.then(async (code) => {
    // What it sent last may still be on its way.
    await new Promise((resolve) => setTimeout(resolve, 500))
    throw new Error(`ended with status ${code} and no result`)
  })
  try {
    return await Promise.race([result, limit, end])
  } catch (cause) {
    await child.stop()
    const written = child.stderr().trim().split('\n').slice(-MOST_LINES).join('\n')
    throw new Error(`${what}: ${(cause as Error).message}${written && `\nstderr:\n${written}`}`, { cause })
  } finally {
    clearTimeout(timer)
    await child.stop()
  }
}

/** Runs a process to its end and gives what it wrote to stdout. */
export async function outputOf(command: string, args: readonly string[], options: ChildOptions): Promise<string> {
  const child = startChild(command, args, options)
  const output = child.ended.then((code) => {
    if (code !== 0) throw new Error(`ended with status ${code}`)
    return child.stdout()
  })
  return resultOf(child, command, output)
}

function collected(stream: NodeJS.ReadableStream | null): () => string {
  let text = ''
  stream?.setEncoding('utf8')
  stream?.on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}
