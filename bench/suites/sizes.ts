/** @module What users download: the core, and the main entry as a Worker's bundler makes it; gzipped. */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { caseOf, type Judgement, type Suite } from '../harness/suite.js'
import { kb } from '../harness/text.js'

export const sizes: Suite = {
  cases: [{ name: 'gzipped' }],
  effort: { rounds: 1, calls: 1, warmUpMs: 0 },
  async measure() {
    const core = await readFile(createRequire(import.meta.url).resolve('evenkeel/core.wasm'))
    const figures = { core: gzipped(core), entry: gzipped(await bundledForWorkers()) }
    return { timings: {}, figures }
  },
  judge(found) {
    const { core = Number.NaN, entry = Number.NaN } = caseOf(found, 'gzipped').figures ?? {}
    return [
      within('core.wasm, gzipped', core, 12),
      within('main entry bundled for Workers, without the core, gzipped', entry, 30),
      { what: 'main entry bundled for Workers, with the core, gzipped', measured: kb(core + entry) },
    ]
  },
}

function gzipped(bytes: Uint8Array): number {
  return gzipSync(bytes, { level: 9 }).length
}

/** The whole entry: a Worker that uses less of it is smaller. */
async function bundledForWorkers(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: "export * from 'evenkeel'", resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    bundle: true,
    minify: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    loader: { '.wasm': 'copy' },
    outdir: 'unwritten',
    write: false,
  })
  const script = outputFiles.find(({ path }) => path.endsWith('.js'))
  if (script === undefined) throw new Error('the bundler wrote no script')
  return script.contents
}

function within(what: string, bytes: number, mostKb: number): Judgement {
  return { what, budget: `≤ ${mostKb} KB`, measured: kb(bytes), met: bytes <= mostKb * 1024 }
}
