/** @module The Nodes of the matrix, from npm. */

import { node } from '../runtime/node.js'
import type { Runtime } from '../runtime/runtime.js'
import { installed } from './installed.js'

export function nodesOfTheMatrix(): Runtime[] {
  return [22, 24, 26].map((major) => ({
    name: `node-${major}`,
    launch: () => node(`node-${major}`, { command: installed(`node${major}/bin/node`) }).launch(),
  }))
}
