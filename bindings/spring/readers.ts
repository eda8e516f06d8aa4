/** @module Values as Spring converts them from text. */

import { toMs } from '../config/duration.js'

export interface Reader<T> {
  /** For error messages: what it takes. */
  readonly accepts: string
  /** undefined: unreadable. Blank text is passed only to readers that take it. */
  read(text: string): T | undefined
  readonly takesBlank?: true
}

export const text: Reader<string> = { accepts: 'a text', read: (text) => text }

export const anyText: Reader<string> = { ...text, takesBlank: true }

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  1: true,
  false: false,
  off: false,
  no: false,
  0: false,
}

export const boolean: Reader<boolean> = {
  accepts: 'true or false (on, off, yes, no, 1, 0)',
  takesBlank: true,
  read: (text) => {
    const word = text.toLowerCase()
    return Object.hasOwn(BOOLEANS, word) ? BOOLEANS[word] : undefined
  },
}

/** Hexadecimal too, after `0x` or `#`. */
export function whole(least: number, most: number): Reader<number> {
  return {
    accepts: `a whole number from ${least} to ${most}`,
    read: (text) => {
      const isNumber = /^(?:[+-]?\d+|(?:0x|#)[\da-f]+)$/i.test(text)
      const value = isNumber ? Number(text.replace('#', '0x')) : Number.NaN
      return value >= least && value <= most ? value : undefined
    },
  }
}

export function fraction(least: number, most: number): Reader<number> {
  return {
    accepts: `a number from ${least} to ${most}`,
    read: (text) => {
      const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
      return value >= least && value <= most ? value : undefined
    },
  }
}

/** The longest time that timers take: what is longer (`max-backoff` has 2^63 − 1 ms) comes to the same. */
export const LONGEST_MS = 2 ** 31 - 1

/** Units of Spring's short style; the others are in `toMs`. */
const SHORT: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3 }

/** java.time.Duration in Spring's two styles; a bare number is ms. */
export const duration = durationFrom(0)
export const positiveDuration = durationFrom(1)

function durationFrom(leastMs: number): Reader<number> {
  return {
    accepts: `a duration of ${leastMs} ms or more, such as 35s, 500ms, 1m, PT5S, or a number of ms`,
    read: (text) => {
      const ms = msOf(text)
      return typeof ms === 'number' && ms >= leastMs ? Math.min(ms, LONGEST_MS) : undefined
    },
  }
}

/** A whole number of seconds, in ms. */
export const seconds: Reader<number> = {
  accepts: 'a whole number of seconds',
  read: (text) => {
    const value = whole(0, LONGEST_MS).read(text)
    return value === undefined ? undefined : Math.min(value * 1_000, LONGEST_MS)
  },
}

export const positiveSeconds: Reader<number> = {
  accepts: 'a whole number of seconds, 1 or more',
  read: (text) => seconds.read(text) || undefined,
}

function msOf(text: string): unknown {
  if (/^p/i.test(text)) return toMs(text.toUpperCase())
  const [, amount, unit = ''] = /^\+?(\d+)([a-z]{0,2})$/i.exec(text) ?? []
  if (amount === undefined) return undefined
  const factor = SHORT[unit.toLowerCase()]
  return factor === undefined ? toMs(amount + unit.toLowerCase()) : Number(amount) * factor
}

/** Separated by commas, or `[0]`, `[1]`, … in the file. */
export function listOf<T>(item: Reader<T>): Reader<readonly T[]> {
  return {
    accepts: `a list, each ${item.accepts}`,
    takesBlank: true,
    read: (text) => {
      const items = text.split(',').map((part) => part.trim())
      const values = items.filter((part) => part !== '').map(item.read)
      return values.includes(undefined) ? undefined : (values as T[])
    },
  }
}

/** One of these words, in any case. */
export function oneOf<W extends string>(...words: readonly W[]): Reader<W> {
  return { accepts: words.join(', '), read: (text) => words.find((word) => word === text.toLowerCase()) }
}

/** What is read, as the option has it. */
export function as<T, U>(reader: Reader<T>, convert: (value: T) => U): Reader<U> {
  return {
    ...reader,
    read: (text) => {
      const value = reader.read(text)
      return value === undefined ? undefined : convert(value)
    },
  }
}
