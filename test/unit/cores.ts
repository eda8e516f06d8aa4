/** The same core in each of its forms, for tests that compare them. */

import { readFileSync } from 'node:fs'
import { instantiateSync } from '@assemblyscript/loader'
import { Core } from '../../bindings/core/core.js'
import type { CoreExports } from '../../bindings/core/exports.js'
import { instantiate as instantiateJs } from '../../build/core.js'

const file = (name: string) => readFileSync(new URL(`../../build/${name}`, import.meta.url))
const wasm = (name: string) =>
  new WebAssembly.Instance(new WebAssembly.Module(file(name))).exports as unknown as CoreExports

/** The shared build, in a memory of the caller's: several threads may have it. */
export function sharedCore(memory: WebAssembly.Memory): Core {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(file('core.shared.wasm')), { env: { memory } })
  return new Core({ ...exports, memory } as unknown as CoreExports)
}

export const sharedMemory = () => new WebAssembly.Memory({ initial: 1, maximum: 1024, shared: true })

/** Fresh instances, each with a memory of its own. The debug build checks its assertions and says where one failed. */
export const CORES: Record<string, () => Core> = {
  release: () => new Core(wasm('core.wasm')),
  debug: () => new Core(instantiateSync(file('core.debug.wasm')).exports as unknown as CoreExports),
  shared: () => sharedCore(sharedMemory()),
  scalar: () => new Core(wasm('core.scalar.wasm')),
  wasm2js: () => new Core(instantiateJs() as CoreExports),
}
