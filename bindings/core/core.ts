/** @module The one instance of the core in this isolate, and views of its memory. */

import { compile } from '#core'
import { ABI_VERSION } from '../../assembly/layout.js'
import { WasmError } from '../errors.js'
import type { CoreExports, Pointer } from './exports.js'
import { KeyBytes } from './key-bytes.js'

export class Core {
  readonly exports: CoreExports
  /** The key of the request that is picked for. */
  readonly key: KeyBytes
  #i32 = new Int32Array()
  #f64 = new Float64Array()
  #u16 = new Uint16Array()
  #u8 = new Uint8Array()

  constructor(exports: CoreExports) {
    // A copy: an instance's own exports object is slow to look things up in.
    this.exports = { ...exports }
    if (exports.abiVersion() !== ABI_VERSION) {
      throw new WasmError(`this core has layout ${exports.abiVersion()}, these bindings need ${ABI_VERSION}`)
    }
    this.key = new KeyBytes(this.exports)
  }

  /** Views are taken again when memory has grown: growing detaches the old ones. Index: pointer >>> 2. */
  get i32(): Int32Array {
    const { buffer } = this.exports.memory
    return this.#i32.buffer === buffer ? this.#i32 : (this.#i32 = new Int32Array(buffer))
  }

  /** Index: pointer >>> 3. */
  get f64(): Float64Array {
    const { buffer } = this.exports.memory
    return this.#f64.buffer === buffer ? this.#f64 : (this.#f64 = new Float64Array(buffer))
  }

  /** Index: pointer >>> 1. */
  get u16(): Uint16Array {
    const { buffer } = this.exports.memory
    return this.#u16.buffer === buffer ? this.#u16 : (this.#u16 = new Uint16Array(buffer))
  }

  get u8(): Uint8Array {
    const { buffer } = this.exports.memory
    return this.#u8.buffer === buffer ? this.#u8 : (this.#u8 = new Uint8Array(buffer))
  }

  /** `String.hashCode` of the text's UTF-16 units. */
  hashText(text: string): number {
    const units: Pointer = this.exports.allocate(text.length * 2)
    const view = this.u16
    for (let i = 0; i < text.length; i++) view[(units >>> 1) + i] = text.charCodeAt(i)
    const hash = this.exports.hashCode(units, text.length)
    this.exports.release(units)
    return hash
  }
}

let shared: Core | undefined
const byModule = new WeakMap<WebAssembly.Module, Core>()

/**
 * The isolate's core; made on first use. A module of the caller's own gets one instance too, however often it is given.
 * @throws EVENKEEL_WASM if the host refuses to compile or instantiate
 */
export function coreOf(module?: WebAssembly.Module): Core {
  if (module === undefined) return (shared ??= instantiate(compile))
  let core = byModule.get(module)
  if (core === undefined) byModule.set(module, (core = instantiate(() => module)))
  return core
}

function instantiate(source: () => WebAssembly.Module | (() => unknown)): Core {
  let exports: unknown
  try {
    const compiled = source()
    exports = typeof compiled === 'function' ? compiled() : new WebAssembly.Instance(compiled).exports
  } catch (cause) {
    throw new WasmError(
      `the core could not be loaded (${cause instanceof Error ? cause.message : cause}): ` +
        `where WebAssembly is not allowed, import from 'evenkeel/js' instead`,
      { cause },
    )
  }
  return new Core(exports as CoreExports)
}
