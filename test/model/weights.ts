/** Models of assembly/weights.ts, rotation.ts and cumulative.ts: the cycles written out, or found by counting. */

export function reduced(weights: readonly number[]): bigint[] {
  const scaled = weights.map((weight) => BigInt(Math.round(weight * 1000)))
  const divisor = scaled.reduce(gcd, 0n)
  return divisor === 0n ? scaled : scaled.map((weight) => weight / divisor)
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b)
}

export function total(weights: readonly bigint[]): bigint {
  return weights.reduce((sum, weight) => sum + weight, 0n)
}

/** The index at `place` of SCLB's cycle, by the definition: for r = 1, 2, …: every i with W_i ≥ r. */
export function interleavedAt(weights: readonly bigint[], place: bigint): number {
  const distinct = [...new Set(weights)].filter((weight) => weight > 0n).sort((a, b) => (a < b ? -1 : 1))
  let rest = place % total(weights)
  let before = 0n
  for (const weight of distinct) {
    const active = weights.flatMap((own, i) => (own >= weight ? [i] : []))
    const places = (weight - before) * BigInt(active.length)
    if (rest < places) return active[Number(rest % BigInt(active.length))] as number
    rest -= places
    before = weight
  }
  throw new Error('unreachable: the place is within the cycle')
}

/** The index that owns `point` when each takes as many points in a row as its weight. */
export function ownerOf(weights: readonly bigint[], point: bigint): number {
  let rest = point
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] as bigint
    if (rest < weight) return i
    rest -= weight
  }
  throw new Error('unreachable: the point is below the total')
}
