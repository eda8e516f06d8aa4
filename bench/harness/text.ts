/** @module Numbers as the tables show them. */

/** The list lengths that picks are measured at. */
export const SIZES = [10, 1_000, 100_000] as const

export function count(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ' ')
}

export function times(ratio: number): string {
  return `${ratio >= 100 ? ratio.toFixed(0) : ratio.toPrecision(ratio < 1 ? 2 : 3)} ×`
}

export function ns(value: number): string {
  return `${value.toFixed(Math.abs(value) < 10 ? 1 : 0)} ns`
}

export function us(nanoseconds: number): string {
  const value = nanoseconds / 1e3
  return `${value >= 100 ? count(Math.round(value)) : value.toPrecision(3)} µs`
}

export function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`
}

export function kb(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}

/** `1.2 × (10), 1.3 × (1 000), 1.4 × (100 000)` */
export function perSize(show: (n: number) => string): string {
  return SIZES.map((n) => `${show(n)} (${count(n)})`).join(', ')
}
