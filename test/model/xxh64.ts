/** Model of assembly/xxh64.ts, from the description of the format, over BigInt. */

const MASK = (1n << 64n) - 1n
const [P1, P2, P3, P4, P5] = [
  11400714785074694791n,
  14029467366897019727n,
  1609587929392839161n,
  9650029242287828579n,
  2870177450012600261n,
] as const

const rotl = (x: bigint, by: bigint) => ((x << by) | (x >> (64n - by))) & MASK
const times = (a: bigint, b: bigint) => (a * b) & MASK
const plus = (...terms: bigint[]) => terms.reduce((sum, term) => sum + term, 0n) & MASK
const round = (lane: bigint, value: bigint) => times(rotl(plus(lane, value * P2), 31n), P1)

export function xxh64(input: string | Uint8Array, seed = 0n): bigint {
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  const word = (at: number, size: number) =>
    bytes.slice(at, at + size).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
  let at = 0
  let hash = plus(seed, P5)
  if (bytes.length >= 32) {
    const lanes = [plus(seed, P1, P2), plus(seed, P2), plus(seed), BigInt.asUintN(64, seed - P1)]
    for (; at + 32 <= bytes.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i] as bigint, word(at + 8 * i, 8))
    }
    hash = plus(...lanes.map((lane, i) => rotl(lane, [1n, 7n, 12n, 18n][i] as bigint)))
    for (const lane of lanes) hash = plus(times(hash ^ round(0n, lane), P1), P4)
  }
  hash = plus(hash, BigInt(bytes.length))
  for (; at + 8 <= bytes.length; at += 8) hash = plus(times(rotl(hash ^ round(0n, word(at, 8)), 27n), P1), P4)
  if (at + 4 <= bytes.length) {
    hash = plus(times(rotl(hash ^ times(word(at, 4), P1), 23n), P2), P3)
    at += 4
  }
  for (; at < bytes.length; at++) hash = times(rotl(hash ^ times(BigInt(bytes[at] as number), P5), 11n), P1)
  hash = times(hash ^ (hash >> 33n), P2)
  hash = times(hash ^ (hash >> 29n), P3)
  return hash ^ (hash >> 32n)
}

/** Its eight bytes, little end first. */
export function bytesOf(value: bigint): Uint8Array {
  return new Uint8Array(new BigUint64Array([value]).buffer)
}
