/** @module npm `hashring` and `consistent-hash`: a ring of points, a key's owner by binary search. */

import { load } from './installed.js'
import { type Backend, backends } from './object-policies.js'
import type { Peer } from './peer.js'

export const hashring: Peer = {
  name: 'hashring',
  note: 'MD5 by node:crypto, 160 points each, remembers 5 000 keys',
  ops: () => 2_000,
  of(n, _, keys) {
    const servers = Array.from({ length: n }, (_, i) => `10.0.${i >> 8}.${i & 255}:8080`)
    const ring: { get(key: string): string } = new (load('hashring'))(servers)
    return (op) => ring.get(keys[op & (keys.length - 1)] as string).length
  },
}

export const consistentHash: Peer = {
  name: 'consistent-hash',
  note: 'a 24-bit hash of the text, points at random places (40 each, 100 003 places in all)',
  of(n, _, keys) {
    const ring: { add(node: Backend): void; get(key: string): Backend } = new (load('consistent-hash'))()
    for (const backend of backends(n)) ring.add(backend)
    return (op) => ring.get(keys[op & (keys.length - 1)] as string).id
  },
}
