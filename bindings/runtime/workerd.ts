/** @module Cloudflare Workers: no code is generated from bytes, the module is imported. */

import module from '../core.wasm'

export function compile(): WebAssembly.Module {
  return module
}
