/** @module How much of each instance one of many clients sees, on a ring that all of them share. */

/**
 * Client `number` of `clients` sees the ring from number / clients on, as wide as `least` of its `length` places, rounded
 * up to a multiple of 1 / clients, and the whole of it at most. All edges then lie on multiples of 1 / (clients · length),
 * and what is seen of each place is a whole number of those: exact, in proportion, and the same in sum for every place.
 * @returns from place to its share, in the smallest whole numbers; places that are not seen are left out
 * @see Finagle, DeterministicAperture.scala (`dApertureWidth`) and Ring.scala
 */
export function overlapsOf(
  clients: number,
  number: number,
  length: number,
  least: number,
): ReadonlyMap<number, number> {
  const overlaps = new Map<number, number>()
  const width = Math.min(clients, Math.ceil((least * clients) / length)) * length
  const end = number * length + width
  for (let at = number * length; at < end; ) {
    const place = Math.floor(at / clients)
    const edge = Math.min((place + 1) * clients, end)
    overlaps.set(place % length, (overlaps.get(place % length) ?? 0) + edge - at)
    at = edge
  }
  const divisor = [...overlaps.values()].reduce(greatestCommonDivisor, clients)
  return new Map(Array.from(overlaps, ([place, overlap]) => [place, overlap / divisor]))
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
