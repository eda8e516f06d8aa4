/** Model of assembly/java.ts and subset.ts, in BigInt. */

export function hashCode(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

const MULTIPLIER = 0x5deece66dn
const MASK = (1n << 48n) - 1n

export class ModelRandom {
  #state: bigint

  constructor(seed: number) {
    this.#state = (BigInt(seed) ^ MULTIPLIER) & MASK
  }

  #next31(): number {
    this.#state = (this.#state * MULTIPLIER + 0xbn) & MASK
    return Number(this.#state >> 17n)
  }

  nextInt(bound: number): number {
    let draw = this.#next31()
    if ((bound & (bound - 1)) === 0) return Number((BigInt(bound) * BigInt(draw)) >> 31n)
    for (;;) {
      const rest = draw % bound
      if (draw - rest + (bound - 1) < 2 ** 31) return rest
      draw = this.#next31()
    }
  }
}

export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = new ModelRandom(seed)
  const list = [...items]
  for (let i = list.length; i > 1; i--) {
    const j = random.nextInt(i)
    const swap = list[i - 1] as T
    list[i - 1] = list[j] as T
    list[j] = swap
  }
  return list
}

export function subset<T>(list: readonly T[], idHash: number, size: number): T[] {
  if (list.length <= size) return [...list]
  const hash = idHash & 0x7fffffff
  const count = Math.floor(list.length / size)
  const start = (hash % count) * size
  return shuffled(list, Math.floor(hash / count)).slice(start, start + size)
}
