/** @module npm `weighted-round-robin`: nginx's smooth weighted round robin, a look at every peer for each choice. */

import { load } from './installed.js'
import type { Peer } from './peer.js'

export const smoothPeers: Peer = {
  name: 'weighted-round-robin',
  ops: (n) => Math.max(50, 20_000 / n),
  of(n, weightOf) {
    const peers: { add(peer: object): void; get(): { port: number } } = new (load('weighted-round-robin'))()
    for (let i = 0; i < n; i++) peers.add({ id: `peer-${i}`, port: i, weight: weightOf(i) })
    return () => peers.get().port
  },
}
