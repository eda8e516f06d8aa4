/** @module What `wrangler deploy` would upload of examples/worker: made by a dry run, then run by workerd. */

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Report } from '../conformance/case.js'
import { type Consumer, consumerOf, freePort, startOrigin } from '../e2e/consumer.js'
import { addCase, type Runtime } from '../runtime/runtime.js'
import { installed } from './installed.js'

const OUTPUT = 'dist-wrangler'

export function wrangler(): Runtime {
  return {
    name: 'wrangler',
    async launch() {
      const report: Report = { runtime: 'wrangler', passed: 0, failed: [], skipped: [] }
      const worker = await consumerOf('worker')
      try {
        await addCase(report, 'wrangler: a dry run bundles the example, its core as a Wasm module', () =>
          bundles(worker),
        )
        await addCase(report, 'wrangler: workerd runs what it bundled', () => runs(worker))
      } finally {
        await worker.stop()
      }
      return report
    },
  }
}

async function bundles(worker: Consumer): Promise<void> {
  const command = [installed('node24/bin/node'), installed('wrangler/bin/wrangler.js')]
  await worker.run([...command, 'deploy', '--dry-run', '--outdir', OUTPUT])
  const script = await readFile(join(worker.folder, OUTPUT, 'index.js'), 'utf8')
  const core = await coreOf(worker)
  if (!script.includes(core)) throw new Error(`index.js does not import ${core}`)
  if (script.includes('CORE_BASE64'))
    throw new Error('index.js has the core as text: the workerd condition was not set')
}

/** The Wasm module that wrangler put beside the script, under a name of its own. */
async function coreOf(worker: Consumer): Promise<string> {
  const files = await readdir(join(worker.folder, OUTPUT))
  const cores = files.filter((file) => file.endsWith('.wasm'))
  if (cores.length !== 1) throw new Error(`one Wasm module was expected, there are ${files.join(', ')}`)
  return cores[0] as string
}

async function runs(worker: Consumer): Promise<void> {
  const origins = await Promise.all(['one', 'two'].map(startOrigin))
  try {
    const port = await freePort()
    const core = await coreOf(worker)
    const config = await readFile(join(worker.folder, 'config.capnp'), 'utf8')
    await writeFile(
      join(worker.folder, 'wrangler.capnp'),
      config
        .replace(':8787', `:${port}`)
        .replace('dist/index.js', `${OUTPUT}/index.js`)
        .replace('name = "core.wasm"', `name = "${core}"`)
        .replace('dist/core.wasm', `${OUTPUT}/${core}`),
    )
    const ORIGINS = JSON.stringify(origins.map(({ url }) => url))
    const url = `http://127.0.0.1:${port}`
    await worker.start(['workerd', 'serve', 'wrangler.capnp'], { ORIGINS }, url)
    const names = new Set<string>()
    for (let i = 0; i < 10; i++) names.add(((await (await fetch(url)).json()) as { name: string }).name)
    if (names.size !== 2) throw new Error(`two origins were expected to answer, did: ${[...names].join(', ')}`)
  } finally {
    await Promise.all(origins.map((origin) => origin.close()))
  }
}
