/** @module Vercel's edge runtime as its VM on Node, with code generation off. */

import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { bundle, ROOT } from './consumer.js'
import { reportFrom } from './program.js'
import { type Runtime, runtimeOf } from './runtime.js'

const HOST = join(ROOT, 'test', 'runtime', 'entry', 'edge-host.ts')

/** '….wasm?module' as Next.js resolves it: the module that the host hands in. */
const handedIn: Plugin = {
  name: 'handed-in',
  setup(build) {
    build.onResolve({ filter: /\.wasm\?module$/ }, ({ path }) => ({ path, namespace: 'handed-in' }))
    build.onLoad({ filter: /./, namespace: 'handed-in' }, () => ({ contents: 'export default globalThis.wasm_core' }))
  },
}

export function edgeVm(): Runtime {
  return runtimeOf('edge-vm', {}, async (context, folder) => {
    const script = await bundle(folder, {
      entry: 'edge',
      options: { format: 'iife', conditions: ['edge-light', 'worker', 'browser'], plugins: [handedIn] },
    })
    const core = join(folder, 'node_modules', 'evenkeel', 'dist', 'core.wasm')
    const args = ['--import', 'tsx', HOST, script, JSON.stringify(context), core]
    return reportFrom(process.execPath, args, { cwd: ROOT })
  })
}
