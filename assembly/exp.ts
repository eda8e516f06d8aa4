/**
 * e^x for x ≤ 0, the same bits on every host: only +, ×, floor and bit moves, which IEEE 754 fixes.
 * x = k·ln 2 + r with |r| ≤ ln 2 / 2, then the Taylor series of e^r to r¹³ (remainder under 5·10⁻¹⁸) times 2^k.
 */
export function expNegative(x: f64): f64 {
  if (x === 0) return 1
  if (!(x > -708)) return 0
  const k = floor(x * Math.LOG2E + 0.5)
  // ln 2 in two parts (fdlibm's): k times the first is exact.
  const r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
  let sum: f64 = 1.6059043836821613e-10
  sum = sum * r + 2.08767569878681e-9
  sum = sum * r + 2.505210838544172e-8
  sum = sum * r + 2.755731922398589e-7
  sum = sum * r + 2.7557319223985893e-6
  sum = sum * r + 2.48015873015873e-5
  sum = sum * r + 1.984126984126984e-4
  sum = sum * r + 1.388888888888889e-3
  sum = sum * r + 8.333333333333333e-3
  sum = sum * r + 4.1666666666666664e-2
  sum = sum * r + 1.6666666666666666e-1
  sum = sum * r + 0.5
  sum = sum * r + 1
  sum = sum * r + 1
  return sum * reinterpret<f64>(u64(i64(k) + 1023) << 52)
}
