/**
 * e^x for x ≤ 0, the same bits on every host: only +, ×, floor and bit moves, which IEEE 754 fixes.
 * x = k·ln 2 + r with |r| ≤ ln 2 / 2, then the Taylor series of e^r to r¹³ (remainder under 5·10⁻¹⁸) times 2^k.
 * The series are summed in pairs (Estrin), since a chain of multiplications is mostly waiting.
 */
export function expNegative(x: f64): f64 {
  if (x > SMALL) return nearOne(x)
  if (!(x > -708)) return 0
  const k = floor(x * Math.LOG2E + 0.5)
  // ln 2 in two parts (fdlibm's): k times the first is exact.
  const r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
  const r2 = r * r
  const r4 = r2 * r2
  const low = 1 + r + (0.5 + C3 * r) * r2 + (C4 + C5 * r + (C6 + C7 * r) * r2) * r4
  const high = C8 + C9 * r + (C10 + C11 * r) * r2 + (C12 + C13 * r) * r4
  return (low + high * (r4 * r4)) * reinterpret<f64>(u64(i64(k) + 1023) << 52)
}

/** From here on e^x needs no more than x⁶: what follows is under 4·10⁻¹⁹. */
const SMALL: f64 = -0.0078125

function nearOne(x: f64): f64 {
  const x2 = x * x
  return 1 + x + (0.5 + C3 * x) * x2 + (C4 + C5 * x + C6 * x2) * (x2 * x2)
}

/** 1/n!. */
const C3: f64 = 0.16666666666666666
const C4: f64 = 0.041666666666666664
const C5: f64 = 0.008333333333333333
const C6: f64 = 0.001388888888888889
const C7: f64 = 0.0001984126984126984
const C8: f64 = 0.0000248015873015873
const C9: f64 = 0.0000027557319223985893
const C10: f64 = 2.755731922398589e-7
const C11: f64 = 2.505210838544172e-8
const C12: f64 = 2.08767569878681e-9
const C13: f64 = 1.6059043836821613e-10
