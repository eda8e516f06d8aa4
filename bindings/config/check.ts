/** @module Checks of factory options: an unknown option is an error, never ignored. */

import { ConfigError, show } from '../errors.js'

/** @throws EVENKEEL_CONFIG naming the first option that `owner` does not know */
export function checkOptions(owner: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new ConfigError(`${owner} takes an object of options, not ${show(options)}`, { option: owner })
  }
  for (const key in options) {
    if (!known.includes(key)) {
      const accepted = known.length === 0 ? 'it takes none' : `accepted: ${known.join(', ')}`
      throw new ConfigError(`${owner} has no option "${key}"; ${accepted}`, { option: `${owner}.${key}` })
    }
  }
}

export function optionalText(where: string, value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw new ConfigError(`${where} must be a non-empty string, not ${show(value)}`, { option: where })
}

export function optionalBoolean(where: string, value: unknown): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  throw new ConfigError(`${where} must be true or false, not ${show(value)}`, { option: where })
}

export interface NumberRange {
  least: number
  most?: number
  whole?: boolean
  unit?: string
}

export function optionalNumber(where: string, value: unknown, range: NumberRange): number | undefined {
  if (value === undefined) return undefined
  const { least, most = Number.POSITIVE_INFINITY, whole = false, unit = '' } = range
  if (typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value))) return value
  const kind = `a ${whole ? 'whole ' : ''}number${unit && ` of ${unit}`}`
  const bounds = most === Number.POSITIVE_INFINITY ? `${least} or more` : `from ${least} to ${most}`
  throw new ConfigError(`${where} must be ${kind}, ${bounds}, not ${show(value)}`, { option: where })
}
