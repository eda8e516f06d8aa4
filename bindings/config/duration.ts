/** @module Durations: milliseconds in code; in JSON and Spring files also `35s`, `500ms`, `PT5S`. */

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** ISO 8601 as java.time.Duration has it, without years, months and weeks. */
const ISO = /^PT?(?:(\d+)D(?:T(?=\d)|$))?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$/

/** A duration that has been checked, in ms. */
export function msOf(duration: number | string | undefined): number | undefined {
  return toMs(duration) as number | undefined
}

/** Milliseconds; anything that is no duration is given back as it is, for the check that follows to refuse. */
export function toMs(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const simple = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(value)
  if (simple !== null) return Number(simple[1]) * (UNITS[simple[2] ?? 'ms'] as number)
  const iso = ISO.exec(value)
  if (iso === null || !/\d/.test(value)) return value
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = iso
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1_000
}
