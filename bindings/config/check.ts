/** @module Checks of options, composed: each throws an EVENKEEL_CONFIG that names the place, the value and what is accepted. */

import { ConfigError } from '../errors.js'
import { MOST_MS } from '../runtime/host.js'
import { show } from '../show.js'
import { toMs } from './duration.js'

/** Checks a value that was given; undefined is never passed. `where` is its path, as `services.orders.cache.ttlMs`. */
export type Check = (value: unknown, where: string) => void

export function refuse(where: string, value: unknown, accepted: string): never {
  throw new ConfigError(`${where} must be ${accepted}, not ${show(value)}`, { option: where })
}

/** An object with these options and no others. */
export function object(options: Readonly<Record<string, Check>>): Check {
  return (value, where) => {
    if (!isObject(value)) refuse(where, value, 'an object of options')
    for (const key in value) {
      const check = Object.hasOwn(options, key) ? options[key] : undefined
      if (check === undefined) {
        const known = Object.keys(options)
        const accepted = known.length === 0 ? 'it takes none' : `accepted: ${known.join(', ')}`
        throw new ConfigError(`${where} has no option "${key}"; ${accepted}`, { option: `${where}.${key}` })
      }
      if (value[key] !== undefined) check(value[key], where === ROOT ? key : `${where}.${key}`)
    }
  }
}

/** The path of the balancer's own options, which their paths don't repeat. */
export const ROOT = 'createLoadBalancer'

/** An object whose keys are the user's. */
export function map(each: Check): Check {
  return (value, where) => {
    if (!isObject(value)) refuse(where, value, 'an object')
    for (const key in value) each(value[key], `${where}.${key}`)
  }
}

export function array(each?: (value: unknown) => boolean, what = 'values'): Check {
  return (value, where) => {
    if (!Array.isArray(value)) refuse(where, value, `an array of ${what}`)
    const odd = each === undefined ? -1 : value.findIndex((one) => !each(one))
    if (odd >= 0) refuse(`${where}[${odd}]`, value[odd], `one of an array of ${what}`)
  }
}

export const text: Check = (value, where) => {
  if (typeof value !== 'string' || value === '') refuse(where, value, 'a non-empty string')
}

export const boolean: Check = (value, where) => {
  if (typeof value !== 'boolean') refuse(where, value, 'true or false')
}

export function func(what: string): Check {
  return (value, where) => {
    if (typeof value !== 'function') refuse(where, value, what)
  }
}

export function oneOf(...accepted: string[]): Check {
  return (value, where) => {
    if (!accepted.includes(value as string)) refuse(where, value, accepted.map((word) => `'${word}'`).join(' or '))
  }
}

export interface NumberRange {
  least: number
  most?: number
  whole?: boolean
}

export function number(range: NumberRange, kind = range.whole ? 'a whole number' : 'a number'): Check {
  const { least, most = Number.POSITIVE_INFINITY, whole = false } = range
  const bounds = most === Number.POSITIVE_INFINITY ? `${least} or more` : `from ${least} to ${most}`
  return (value, where) => {
    const fits = typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value))
    if (!fits) refuse(where, value, `${kind}, ${bounds}`)
  }
}

/** Where a 32-bit counter begins. */
export const int32: Check = number({ least: -(2 ** 31), most: 2 ** 31 - 1, whole: true })

/** Milliseconds, or a text such as `35s` or `PT5S`. */
export function duration(least = 0, most = MOST_MS): Check {
  const check = number({ least, most }, "a number of ms (or a text such as '35s')")
  return (value, where) => {
    const ms = toMs(value)
    check(typeof ms === 'number' ? ms : value, where)
  }
}

export function orFalse(check: Check): Check {
  return (value, where) => {
    if (value !== false) check(value, where)
  }
}

export function orBoolean(check: Check): Check {
  return (value, where) => {
    if (typeof value !== 'boolean') check(value, where)
  }
}

export const anything: Check = (value, where) => {
  if (value === null) refuse(where, value, 'given, or left out')
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
