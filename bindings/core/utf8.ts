/** @module Text as UTF-8 in memory of the caller's, without a copy between. */

/** The most bytes that a text may take. */
export function mostUtf8(text: string): number {
  return text.length * 3
}

/** Writes from `at` on, as TextEncoder does: half a surrogate pair is U+FFFD. Where the text ends. */
export function writeUtf8(text: string, bytes: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) return writeWide(text, i, bytes, at + i)
    bytes[at + i] = unit
  }
  return at + text.length
}

/** From unit `i` on, the first that is not ASCII. */
function writeWide(text: string, i: number, bytes: Uint8Array, at: number): number {
  for (; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    const whole = (unit & 0xf800) === 0xd800 ? (text.codePointAt(i) as number) : unit
    const point = (whole & 0xfffff800) === 0xd800 ? 0xfffd : whole
    if (point <= 0x7f) {
      bytes[at++] = point
    } else if (point <= 0x7ff) {
      bytes[at++] = 0xc0 | (point >> 6)
      bytes[at++] = 0x80 | (point & 0x3f)
    } else if (point <= 0xffff) {
      bytes[at++] = 0xe0 | (point >> 12)
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f)
      bytes[at++] = 0x80 | (point & 0x3f)
    } else {
      i++
      bytes[at++] = 0xf0 | (point >> 18)
      bytes[at++] = 0x80 | ((point >> 12) & 0x3f)
      bytes[at++] = 0x80 | ((point >> 6) & 0x3f)
      bytes[at++] = 0x80 | (point & 0x3f)
    }
  }
  return at
}
