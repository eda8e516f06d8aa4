/** Model of assembly/prng.ts. */

const MASK64 = (1n << 64n) - 1n
const GAMMA = 0x9e3779b97f4a7c15n

function mix(state: bigint): bigint {
  let z = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK64
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK64
  return z ^ (z >> 31n)
}

function bitsOf(value: number): bigint {
  return new DataView(new Float64Array([value]).buffer).getBigUint64(0, true)
}

const rotl = (x: number, k: number) => ((x << k) | (x >>> (32 - k))) >>> 0

export class ModelPrng {
  #s: [number, number, number, number]

  constructor(nameHash: number, seed: number) {
    const state = bitsOf(seed) ^ ((BigInt(nameHash >>> 0) * GAMMA) & MASK64)
    const a = mix((state + GAMMA) & MASK64)
    const b = mix((state + 2n * GAMMA) & MASK64)
    this.#s = [Number(a & 0xffffffffn), Number(a >> 32n), Number(b & 0xffffffffn), Number(b >> 32n)]
  }

  u32(): number {
    const s = this.#s
    const result = Math.imul(rotl(Math.imul(s[1], 5) >>> 0, 7), 9) >>> 0
    const t = (s[1] << 9) >>> 0
    s[2] = (s[2] ^ s[0]) >>> 0
    s[3] = (s[3] ^ s[1]) >>> 0
    s[1] = (s[1] ^ s[2]) >>> 0
    s[0] = (s[0] ^ s[3]) >>> 0
    s[2] = (s[2] ^ t) >>> 0
    s[3] = rotl(s[3], 11)
    return result
  }

  below(n: number): number {
    const bound = BigInt(n)
    const threshold = (1n << 32n) % bound
    for (;;) {
      const product = BigInt(this.u32()) * bound
      if ((product & 0xffffffffn) >= threshold) return Number(product >> 32n)
    }
  }

  below64(n: bigint): bigint {
    if (n <= 0xffffffffn) return BigInt(this.below(Number(n)))
    const mask = (1n << BigInt((n - 1n).toString(2).length)) - 1n
    for (;;) {
      const draw = ((BigInt(this.u32()) << 32n) | BigInt(this.u32())) & mask
      if (draw < n) return draw
    }
  }

  f64(): number {
    const high = BigInt(this.u32() >>> 5)
    return Number((high << 26n) | BigInt(this.u32() >>> 6)) / 2 ** 53
  }
}
