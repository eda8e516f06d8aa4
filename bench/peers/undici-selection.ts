/** @module undici's BalancedPool, choosing the pool for a request and sending nothing. */

import { BalancedPool } from 'undici'

/** A function that makes the real class choose, by the method it calls itself before each dispatch. */
export function undiciSelection(n: number): () => object {
  const pool = new BalancedPool(Array.from({ length: n }, (_, i) => `http://10.0.0.${i + 1}:8080`))
  const [choose] = Object.getOwnPropertySymbols(BalancedPool.prototype)
  if (choose?.description !== 'get dispatcher') {
    throw new Error('this undici has no method of BalancedPool that only chooses')
  }
  const method = (pool as unknown as Record<symbol, (this: BalancedPool) => object>)[choose]
  return () => (method as (this: BalancedPool) => object).call(pool)
}
