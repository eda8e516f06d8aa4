/** @module Vercel's edge runtime: as Workers, with its own spelling of the import. */

import module from '../core.wasm?module'

export function compile(): WebAssembly.Module {
  return module
}
