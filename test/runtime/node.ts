/** @module Node.js: the one at hand, or another by its path; also over the wasm2js twin. */

import type { Bundle } from './consumer.js'
import { reportOf } from './program.js'
import { type Runtime, runtimeOf } from './runtime.js'

export function node(
  name = 'node',
  { command = process.execPath, core = 'evenkeel' as Bundle['core'] & string } = {},
): Runtime {
  return runtimeOf(name, {}, (context, folder) => reportOf({ command, core }, context, folder))
}
