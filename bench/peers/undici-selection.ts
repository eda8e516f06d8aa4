/** @module undici's BalancedPool, choosing the pool for a request and sending nothing. */

import { BalancedPool } from 'undici'
import type { Peer } from './peer.js'

/** A function that makes the real class choose, by the method it calls itself before each dispatch. */
export function undiciSelection(n: number): () => object {
  const pool = new BalancedPool(Array.from({ length: n }, (_, i) => `http://10.0.${i >> 8}.${i & 255}:8080`))
  const [choose] = Object.getOwnPropertySymbols(BalancedPool.prototype)
  if (choose?.description !== 'get dispatcher') {
    throw new Error('this undici has no method of BalancedPool that only chooses')
  }
  const method = (pool as unknown as Record<symbol, (this: BalancedPool) => object>)[choose]
  return () => (method as (this: BalancedPool) => object).call(pool)
}

export const undiciPool: Peer = {
  name: 'undici BalancedPool',
  note: 'weights that errors lower; looks through the pools',
  ops: () => 2_000,
  of(n) {
    const choose = undiciSelection(n)
    let last = choose()
    let moves = 0
    return () => {
      const next = choose()
      if (next !== last) moves++
      last = next
      return moves
    }
  },
}
