/** @module The npm packages that evenkeel is compared with. */

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../../tools/extra-packages.js'

/** @throws if npm can't */
export function installPeers(): void {
  installPackages(fileURLToPath(new URL('.', import.meta.url)), 'the comparison with npm packages')
}

// biome-ignore lint/suspicious/noExplicitAny: most of them have no types
export const load = createRequire(import.meta.url) as (name: string) => any
