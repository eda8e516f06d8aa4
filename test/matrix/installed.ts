/** @module What only the matrix needs, installed by npm when it is first wanted. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../../tools/extra-packages.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The path of a file of an installed package, as `node24/bin/node`. */
export function installed(file: string): string {
  installPackages(HERE, 'the matrix')
  return join(HERE, 'node_modules', file)
}
