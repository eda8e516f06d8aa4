/** Model of assembly/least-loaded.ts: all candidates with the least load, drawn from by weight. */

import type { ModelPrng } from './prng.js'

export interface Candidate {
  readonly weight: number
  readonly inFlight: number
  /** Undefined: without history. */
  readonly ewma: number | undefined
}

/** Small whole loads and weights: a / w = b / v is compared exactly by cross-multiplication. */
export function fullScan(
  prng: ModelPrng,
  candidates: readonly Candidate[],
  loadOf: (candidate: Candidate) => number,
  weighted: boolean,
): number {
  const active = candidates.flatMap((candidate, i) => {
    return candidate.weight > 0 ? [{ i, load: loadOf(candidate), weight: candidate.weight }] : []
  })
  const level = active.filter((one) => active.every((other) => one.load * other.weight <= other.load * one.weight))
  if (level.length === 1) return level[0]?.i as number
  const sum = level.reduce((all, { weight }) => all + weight, 0)
  let point = weighted ? prng.f64() * sum : prng.below(sum)
  for (const { i, weight } of level) {
    if (point < weight) return i
    point -= weight
  }
  throw new Error('unreachable: the point is below the sum')
}
