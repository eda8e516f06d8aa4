/** Model of assembly/exp.ts: the same series term by term, the power of two by bits. */

const COEFFICIENTS = [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => 1 / factorial(n))

function factorial(n: number): number {
  return n < 2 ? 1 : n * factorial(n - 1)
}

export function expNegative(x: number): number {
  if (x === 0) return 1
  if (!(x > -708)) return 0
  const k = Math.floor(x * 1.4426950408889634 + 0.5)
  const r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
  const sum = COEFFICIENTS.reduce((total, coefficient) => total * r + coefficient, 0)
  const power = new DataView(new ArrayBuffer(8))
  power.setBigUint64(0, BigInt(k + 1023) << 52n)
  return sum * power.getFloat64(0)
}
