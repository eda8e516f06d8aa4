/**
 * @module What an operation leaves behind in memory, in bytes. Each workload runs in a process of its own in which
 * nothing is compiled beyond bytecode: what V8 keeps for its compilers comes and goes by hundreds of kilobytes, and there
 * is no telling it from a leak. Without it samples differ by a few bytes only, which the self-test of `memory.test.ts`
 * shows, and a byte of each operation is seen.
 */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const ONLY_BYTECODE = ['--no-opt', '--no-sparkplug']

export interface Growth {
  /** In bytes an operation. */
  readonly slope: number
  /** How far samples of the whole heap are from a line, mostly; in bytes. */
  readonly noise: number
  readonly operations: number
  /** Of the heap, from window to window. */
  readonly samples: readonly number[]
}

export class MemoryMeter {
  readonly #folder: string
  readonly #program: string
  /** As many processes at once as there are processors. */
  #free = availableParallelism()
  readonly #waiting: (() => void)[] = []

  private constructor(folder: string, program: string) {
    this.#folder = folder
    this.#program = program
  }

  static async make(): Promise<MemoryMeter> {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-memory-'))
    const outfile = join(folder, 'child.mjs')
    const entry = fileURLToPath(new URL('./memory/child.ts', import.meta.url))
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      // As in the package: what dns-packet requires, no module can.
      alias: { buffer: fileURLToPath(new URL('../../bindings/discovery/dns/buffer.ts', import.meta.url)) },
    })
    return new MemoryMeter(folder, outfile)
  }

  /** @throws what the process said, if it failed */
  async growthOf(workload: string): Promise<Growth> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      const args = ['--expose-gc', ...ONLY_BYTECODE, this.#program, workload]
      const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} })
      return JSON.parse(stdout)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}
