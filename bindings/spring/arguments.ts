/** @module The check of what fromSpring is called with. */

import { ConfigError } from '../index.js'
import type { SpringOptions } from './types.js'

const FORMATS = ['yaml', 'properties']
const OPTIONS = ['format', 'profiles', 'environment']

/** @throws EVENKEEL_CONFIG naming the argument at fault */
export function checkArguments(text: unknown, options: SpringOptions): void {
  if (typeof text !== 'string') refuse('text', 'the text of a file')
  for (const key of Object.keys(options))
    if (!OPTIONS.includes(key)) refuse(key, `left out: there are ${OPTIONS.join(', ')}`)
  const { format, profiles, environment } = options
  if (format !== undefined && !FORMATS.includes(format)) refuse('format', FORMATS.join(' or '))
  if (profiles !== undefined && !(Array.isArray(profiles) && profiles.every((each) => typeof each === 'string'))) {
    refuse('profiles', 'an array of names')
  }
  if (environment !== undefined && (typeof environment !== 'object' || environment === null)) {
    refuse('environment', 'an object of texts')
  }
}

function refuse(option: string, accepted: string): never {
  throw new ConfigError(`fromSpring: ${option} must be ${accepted}`, { option: `fromSpring.${option}` })
}
