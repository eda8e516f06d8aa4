/**
 * ln x for normal x > 0, the same bits on every host: only +, ×, ÷ and bit moves, which IEEE 754 fixes.
 * x = 2^k · m with m in [√½, √2), and ln m = 2 artanh s with s = (m − 1) / (m + 1), |s| < 0.172: a series to s²¹
 * (remainder under 2·10⁻¹⁹). Exact to an ulp or two also just below 1, where rendezvous hashing looks.
 */
export function ln(x: f64): f64 {
  const bits = reinterpret<u64>(x)
  // Of the mantissas from √2 on the exponent is one more: what is above √2's carries into it.
  const k = i64((bits + ABOVE_SQRT2) >> 52) - 1023
  const m = reinterpret<f64>(bits - (u64(k) << 52))
  const s = (m - 1) / (m + 1)
  const z = s * s
  const z2 = z * z
  const z4 = z2 * z2
  const low = T3 + T5 * z + (T7 + T9 * z) * z2
  const high = T11 + T13 * z + (T15 + T17 * z) * z2
  const rest = z * (low + (high + (T19 + T21 * z) * z4) * z4)
  // ln 2 in two parts (fdlibm's): k times the first is exact.
  return f64(k) * 0.6931471803691238 + (s * 2 + (s * rest + f64(k) * 1.9082149292705877e-10))
}

/** 2^52 less the mantissa of √2. */
const ABOVE_SQRT2: u64 = 0x95f619980c433

/** 2 / n. */
const T3: f64 = 0.6666666666666666
const T5: f64 = 0.4
const T7: f64 = 0.2857142857142857
const T9: f64 = 0.2222222222222222
const T11: f64 = 0.18181818181818182
const T13: f64 = 0.15384615384615385
const T15: f64 = 0.13333333333333333
const T17: f64 = 0.11764705882352941
const T19: f64 = 0.10526315789473684
const T21: f64 = 0.09523809523809523
