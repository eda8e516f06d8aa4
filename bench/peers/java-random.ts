/** @module java.util.Random and Collections.shuffle as one writes them in JavaScript: 64-bit arithmetic in BigInt. */

const MULTIPLIER = 0x5deece66dn
const MASK = (1n << 48n) - 1n

export class JavaRandom {
  #state: bigint

  constructor(seed: number) {
    this.#state = (BigInt(seed) ^ MULTIPLIER) & MASK
  }

  nextInt(bound: number): number {
    let draw = this.#next31()
    if ((bound & (bound - 1)) === 0) return Number((BigInt(bound) * BigInt(draw)) >> 31n)
    let rest = draw % bound
    while (draw - rest + (bound - 1) > 0x7fffffff) {
      draw = this.#next31()
      rest = draw % bound
    }
    return rest
  }

  #next31(): number {
    this.#state = (this.#state * MULTIPLIER + 0xbn) & MASK
    return Number(this.#state >> 17n)
  }
}

export function shuffle<T>(items: T[], random: JavaRandom): T[] {
  for (let i = items.length; i > 1; i--) {
    const j = random.nextInt(i)
    const swap = items[i - 1] as T
    items[i - 1] = items[j] as T
    items[j] = swap
  }
  return items
}

/** SCLB's SubsetServiceInstanceListSupplier over an array, from the hashCode of the client's id. */
export function subsetOf<T>(list: readonly T[], idHash: number, size: number): T[] {
  const hash = idHash & 0x7fffffff
  const slices = Math.floor(list.length / size)
  const shuffled = shuffle([...list], new JavaRandom(Math.floor(hash / slices)))
  const from = (hash % slices) * size
  return shuffled.slice(from, from + size)
}
