/** @module npm `wrr-pool`: LVS's interleaved weighted round robin. */

import { load } from './installed.js'
import { type Backend, backends } from './object-policies.js'
import type { Peer } from './peer.js'

export const wrrPool: Peer = {
  name: 'wrr-pool',
  of(n, weightOf) {
    const pool: { add(value: Backend, weight: number): void; next(): Backend } = new (load('wrr-pool'))()
    for (const backend of backends(n, weightOf)) pool.add(backend, backend.weight)
    return () => pool.next().id
  },
}
