/** @module The runtimes that come with `npm ci`. */

import { bun } from './bun.js'
import { deno } from './deno.js'
import { node } from './node.js'
import type { Runtime } from './runtime.js'
import { OLDEST_DATE, workerd } from './workerd.js'
import { latestDate } from './workerd-server.js'

export async function bundledRuntimes(): Promise<Runtime[]> {
  return [
    node(),
    node('node-js', { core: 'evenkeel/js' }),
    deno(),
    bun(),
    workerd(OLDEST_DATE),
    workerd(await latestDate()),
  ]
}
