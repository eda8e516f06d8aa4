/** @module `evenkeel/js`: the core as JavaScript, for hosts whose CSP forbids WebAssembly. */

import { instantiate } from '../../build/core.js'

export function compile(): () => unknown {
  return instantiate
}
