/** @module java.lang.Integer.parseInt, which reads SCLB's weights. */

/** The number that Java reads, or undefined where it throws: a sign and decimal digits of any script, 32 bits. */
export function parseJavaInt(text: string): number | undefined {
  const match = /^([+-]?)(\p{Nd}+)$/u.exec(text)
  if (match === null) return undefined
  const [, sign, digits] = match as unknown as [string, string, string]
  let value = 0
  for (const digit of digits) {
    // Java reads UTF-16 units: digits beyond the first plane are none to it.
    if (digit.length > 1) return undefined
    value = value * 10 + digitOf(digit.charCodeAt(0))
    if (value > 2 ** 31) return undefined
  }
  const signed = sign === '-' ? -value : value
  return signed > 2 ** 31 - 1 ? undefined : signed
}

/** Decimal digits stand in rows of ten, from 0 to 9. */
function digitOf(code: number): number {
  let zero = code
  while (/\p{Nd}/u.test(String.fromCharCode(zero - 1))) zero--
  return (code - zero) % 10
}
