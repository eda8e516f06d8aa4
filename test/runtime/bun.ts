/** @module Bun. */

import { join } from 'node:path'
import { ROOT } from './consumer.js'
import { reportOf } from './program.js'
import { type Runtime, runtimeOf } from './runtime.js'

export function bun(): Runtime {
  const command = join(ROOT, 'node_modules', '.bin', 'bun')
  const lacks = { 'keep-leading-slashes': "Bun's own fetch sends // at the start of a path as /" }
  return runtimeOf('bun', lacks, (context, folder) =>
    reportOf({ command, args: ['--no-install', 'run'] }, context, folder),
  )
}
