/** @module An instance of the core alone, as its bindings drive it, for calls measured without them. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { BLOCK_ROWS, LIST_ROWS, LIST_STRAIGHT, ROW_SHIFT, ROW_WEIGHT } from '../../assembly/layout.js'
import type { CoreExports, Pointer } from '../../bindings/core/exports.js'

const file = createRequire(import.meta.url).resolve('evenkeel/core.wasm')

export function instantiateCore(): CoreExports {
  return new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file))).exports as unknown as CoreExports
}

export interface RawService {
  readonly block: Pointer
  readonly list: Pointer
}

/** A service of `n` rows and the list of all of them, in order. Weights are attached in the given order. */
export function createRawService(core: CoreExports, n: number, weights?: { of(i: number): number; order: number }) {
  const block = core.createBlock()
  core.reserveRows(block, n)
  core.seedBlock(block, 0x6b65656c, 42)
  for (let row = 0; row < n; row++) core.resetRow(block, row)
  const list = core.createList(n)
  const i32 = new Int32Array(core.memory.buffer)
  for (let i = 0; i < n; i++) i32[((list + LIST_ROWS) >>> 2) + i] = i
  i32[(list + LIST_STRAIGHT) >>> 2] = 1
  if (weights !== undefined) {
    const f64 = new Float64Array(core.memory.buffer)
    const rows = i32[(block + BLOCK_ROWS) >>> 2] as number
    for (let i = 0; i < n; i++) f64[(rows + (i << ROW_SHIFT) + ROW_WEIGHT) >>> 3] = weights.of(i)
    core.weighList(block, list, weights.order)
  }
  return { block, list } satisfies RawService
}

/** 64 KiB each. */
export function pagesOf(core: CoreExports): number {
  return core.memory.buffer.byteLength / 65_536
}
