/** @module The check of what fromSpring is called with. */

import { ConfigError } from '../index.js'
import { show } from '../show.js'
import { nearest } from './distance.js'
import type { SpringOptions } from './types.js'

const FORMATS = ['yaml', 'properties']
const OPTIONS = ['format', 'profiles', 'environment']

/** @throws EVENKEEL_CONFIG naming the argument at fault, with what it was */
export function checkArguments(text: unknown, options: SpringOptions): void {
  if (typeof text !== 'string') refuse('text', 'the text of a file', text)
  if (!isRecord(options)) refuse('options', 'an object of options', options)
  for (const key of Object.keys(options)) if (!OPTIONS.includes(key)) refuseUnknown(key)
  const { format, profiles, environment } = options
  if (format !== undefined && !FORMATS.includes(format)) refuse('format', "'yaml' or 'properties'", format)
  if (profiles !== undefined) {
    if (!Array.isArray(profiles)) refuse('profiles', 'an array of names', profiles)
    for (const [i, name] of profiles.entries()) if (typeof name !== 'string') refuse(`profiles[${i}]`, 'a name', name)
  }
  if (environment !== undefined) {
    if (!isRecord(environment)) refuse('environment', 'an object of texts', environment)
    for (const [name, value] of Object.entries<unknown>(environment)) {
      if (value !== undefined && typeof value !== 'string') refuse(`environment.${name}`, 'a text', value)
    }
  }
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(argument: string, accepted: string, value: unknown): never {
  const option = `fromSpring.${argument}`
  throw new ConfigError(`${option} must be ${accepted}, not ${shown(value)}`, { option })
}

function refuseUnknown(name: string): never {
  const near = nearest(name, OPTIONS)
  const meant = near === undefined ? '' : `did you mean ${near}? `
  throw new ConfigError(`fromSpring has no option "${name}"; ${meant}accepted: ${OPTIONS.join(', ')}`, {
    option: `fromSpring.${name}`,
  })
}

/** Bytes and promises are what reading a file gives: they are told what is missing. */
function shown(value: unknown): string {
  const bytes = ArrayBuffer.isView(value) || value instanceof ArrayBuffer ? value.byteLength : undefined
  if (bytes !== undefined) return `${bytes} bytes: decode them, as readFile(path, 'utf8') does`
  if (value instanceof Promise) return 'a promise: await it'
  return show(value)
}
