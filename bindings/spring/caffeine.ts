/** @module `cache.caffeine.spec`: of all that Caffeine can be told, how long a list is kept. */

import { duration, type Reader } from './readers.js'

export interface CaffeineSpec {
  readonly expireAfterWriteMs?: number
  readonly expiresAfterAccess: boolean
}

/** com.github.benmanes.caffeine.cache.CaffeineSpec. */
const NUMBERS = ['initialCapacity', 'maximumSize', 'maximumWeight']
const FLAGS = ['weakKeys', 'weakValues', 'softValues', 'recordStats']
const DURATIONS = ['expireAfterAccess', 'expireAfterWrite', 'refreshAfterWrite']

export const caffeineSpec: Reader<CaffeineSpec> = {
  accepts: `a Caffeine specification, such as "expireAfterWrite=30s"; it has ${[...NUMBERS, ...DURATIONS, ...FLAGS].join(', ')}`,
  read: (text) => {
    const found = new Map(
      text.split(',').map((part) => {
        const [name = '', ...value] = part.split('=')
        return [name.trim(), value.join('=').trim()]
      }),
    )
    for (const [name, value] of found) if (!isSpecified(name, value)) return undefined
    const expireAfterWriteMs = duration.read(found.get('expireAfterWrite') ?? '')
    return {
      ...(expireAfterWriteMs !== undefined && { expireAfterWriteMs }),
      expiresAfterAccess: found.has('expireAfterAccess'),
    }
  },
}

function isSpecified(name: string, value: string): boolean {
  if (NUMBERS.includes(name)) return /^\d+$/.test(value)
  if (DURATIONS.includes(name)) return /^(\d+[dhms]|p.*)$/i.test(value) && duration.read(value) !== undefined
  return FLAGS.includes(name) && value === ''
}
