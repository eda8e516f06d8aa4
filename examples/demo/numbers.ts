/** @module Numbers for people. */

const NOTHING = '–'

export function percent(share: number): string {
  return Number.isNaN(share) ? NOTHING : `${(share * 100).toFixed(1)} %`
}

export function milliseconds(ms: number): string {
  return Number.isNaN(ms) ? NOTHING : ms.toFixed(ms < 100 ? 1 : 0)
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

export function plural(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
