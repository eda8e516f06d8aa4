/** Models of the hashing policies: ids in, ids out, over BigInt and sorted arrays. */

import { bytesOf, xxh64 } from './xxh64.js'

export interface Member {
  readonly id: string
  /** 1 where weights are not attached. */
  readonly weight: number
}

/** Whom a pick may answer. */
export type IsOpen = (id: string) => boolean

const everybody: IsOpen = () => true

const inOrder = (members: readonly Member[]) =>
  members.filter(({ weight }) => weight > 0).sort((a, b) => (a.id < b.id ? -1 : 1))

export interface Point {
  readonly hash: bigint
  readonly id: string
}

function ringOf(members: readonly Member[], counts: readonly number[]): Point[] {
  const points = members.flatMap(({ id }, i) =>
    Array.from({ length: counts[i] as number }, (_, j) => ({ hash: xxh64(`${id}_${j}`), id })),
  )
  return points.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0))
}

/** Points by weight, halved until there are no more than `most`. */
export function ring(given: readonly Member[], perInstance: number, most = 1_048_576): Point[] {
  const members = inOrder(given)
  let unit = 1
  const counts = () => members.map(({ weight }) => Math.max(1, roundHalfEven((weight * perInstance) / unit)))
  while (counts().reduce((a, b) => a + b, 0) > Math.max(most, given.length)) unit *= 2
  return ringOf(members, counts())
}

function roundHalfEven(x: number): number {
  const below = Math.floor(x)
  const rest = x - below
  return rest === 0.5 ? below + (below % 2) : Math.round(x)
}

/** Envoy's ring_hash_lb. */
export function sizedRing(given: readonly Member[], least: number, most: number): Point[] {
  const members = inOrder(given)
  const sum = members.reduce((total, { weight }) => total + weight, 0)
  const lightest = Math.min(...members.map(({ weight }) => weight)) / sum
  const scale = Math.min(Math.ceil(lightest * least) / lightest, most)
  let [current, target] = [0, 0]
  const counts = members.map(({ weight }) => {
    target += scale * (weight / sum)
    const before = current
    while (current < target) current++
    return current - before
  })
  return ringOf(members, counts)
}

/** The walk's order: clockwise from the first point at or after the hash. */
export function* clockwise(points: readonly Point[], hash: bigint): Iterable<string> {
  const at = points.findIndex((point) => point.hash >= hash)
  const first = Math.max(at, 0)
  for (let i = 0; i < points.length; i++) yield (points[(first + i) % points.length] as Point).id
}

export function maglevTable(given: readonly Member[], size: number): string[] {
  const members = inOrder(given)
  const seekers = members.map(({ id, weight }) => ({
    id,
    weight: Math.round(weight * 1000),
    slot: Number(xxh64(id, 0n) % BigInt(size)),
    skip: Number(xxh64(id, 1n) % BigInt(size - 1)) + 1,
    target: 0,
  }))
  const heaviest = Math.max(...seekers.map(({ weight }) => weight))
  const table: string[] = new Array(size)
  let filled = 0
  for (let turn = 1; filled < size; turn++) {
    for (const seeker of seekers) {
      if (filled === size) break
      if (turn * seeker.weight < seeker.target) continue
      seeker.target += heaviest
      while (table[seeker.slot] !== undefined) seeker.slot = (seeker.slot + seeker.skip) % size
      table[seeker.slot] = seeker.id
      filled++
    }
  }
  return table
}

/** The walk's order: through the whole table by a step of the hash's own. */
export function* bySlots(table: readonly string[], hash: bigint): Iterable<string> {
  const size = BigInt(table.length)
  const skip = ((hash / size) % (size - 1n)) + 1n
  for (let i = 0n; i < size; i++) yield table[Number((hash + i * skip) % size)] as string
}

/** The walk's order: by falling score. */
export function byScore(given: readonly Member[], hash: bigint): string[] {
  const even = new Set(given.map(({ weight }) => weight)).size === 1
  const scored = inOrder(given).map(({ id, weight }) => {
    const both = xxh64(bytesOf(xxh64(id)), hash)
    const top = both >> 11n
    const u = Number(top === 0n ? 1n : top) / 2 ** 53
    return { id, both, cost: -Math.log(u) / weight }
  })
  scored.sort((a, b) => (even ? (a.both > b.both ? -1 : 1) : a.cost - b.cost))
  return scored.map(({ id }) => id)
}

export function jump(hash: bigint, buckets: number): number {
  let [bucket, next] = [-1, 0]
  let key = hash
  while (next < buckets) {
    bucket = next
    key = BigInt.asUintN(64, key * 2862933555777941757n + 1n)
    next = Math.floor((bucket + 1) * (2 ** 31 / Number((key >> 33n) + 1n)))
  }
  return bucket
}

/** The walk's order: the bucket, then those after it. */
export function* byBucket(given: readonly Member[], hash: bigint): Iterable<string> {
  // Digits come before all other text, and count as the number they are.
  const numbered = ({ id }: Member) => `${id.replace(/\d+/g, (digits) => `\0${digits.padStart(40, '0')}`)}\0\0${id}`
  const members = inOrder(given).sort((a, b) => (numbered(a) < numbered(b) ? -1 : 1))
  const first = jump(hash, members.length)
  for (let i = 0; i < members.length; i++) yield (members[(first + i) % members.length] as Member).id
}

/** The first of a walk that is open. */
export function firstOf(walk: Iterable<string>, isOpen: IsOpen = everybody): string | undefined {
  for (const id of walk) if (isOpen(id)) return id
  return undefined
}

/** Bounded loads, in whole thousandths: below ⌈c · (all in flight + 1) · weight / all weight⌉. */
export function boundedBy(
  members: readonly (Member & { readonly inFlight: number })[],
  loadFactor: number,
): (id: string) => boolean {
  const units = (weight: number) => BigInt(Math.round(weight * 1000))
  const active = members.reduce((sum, { inFlight }) => sum + inFlight, 0)
  const all = members.reduce((sum, { weight }) => sum + units(weight), 0n)
  const allowed = BigInt(Math.round(loadFactor * 1000)) * BigInt(active + 1)
  const open = new Set(
    members
      .filter(({ weight, inFlight }) => BigInt(inFlight) * 1000n * all < allowed * units(weight))
      .map(({ id }) => id),
  )
  return (id) => open.has(id)
}
