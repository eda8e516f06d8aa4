/** Model of assembly/exp.ts: the series by their definition, summed in the same pairs; the power of two by bits. */

const COEFFICIENTS = Array.from({ length: 14 }, (_, n) => 1 / factorial(n))

function factorial(n: number): number {
  return n < 2 ? 1 : n * factorial(n - 1)
}

/** Estrin's scheme: neighbours are joined by x, the results by x², and so on. */
function inPairs(terms: readonly number[], x: number): number {
  if (terms.length === 1) return terms[0] as number
  const joined: number[] = []
  for (let i = 0; i < terms.length; i += 2) {
    const next = terms[i + 1]
    joined.push(next === undefined ? (terms[i] as number) : (terms[i] as number) + next * x)
  }
  return inPairs(joined, x * x)
}

export function expNegative(x: number): number {
  if (x > -(2 ** -7)) return inPairs(COEFFICIENTS.slice(0, 7), x)
  if (!(x > -708)) return 0
  const k = Math.floor(x * Math.LOG2E + 0.5)
  const r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
  const power = new DataView(new ArrayBuffer(8))
  power.setBigUint64(0, BigInt(k + 1023) << 52n)
  return inPairs(COEFFICIENTS, r) * power.getFloat64(0)
}
