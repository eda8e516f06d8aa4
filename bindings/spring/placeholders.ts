/** @module `${name:default}`, resolved from the environment and the file itself. */

import { relaxed, relaxedName } from './name.js'
import type { Property } from './property.js'

export type Lookup = (name: string) => string | undefined

/** The environment wins over the file, as in Spring; `SERVER_PORT` stands for `server.port`. */
export function lookupIn(
  properties: readonly Property[],
  environment: Readonly<Record<string, string | undefined>>,
): Lookup {
  const variables = new Map<string, string>()
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) variables.set(relaxed(name), value)
  const values = new Map(properties.map(({ elements, value }) => [relaxedName(elements), value]))
  return (name) =>
    environment[name] ?? variables.get(relaxed(name)) ?? values.get(name.split('.').map(relaxed).join('.'))
}

export interface Resolved {
  readonly text: string
  /** The names that nothing defines, or that are defined by themselves. */
  readonly missing: readonly string[]
}

export function resolvePlaceholders(text: string, lookup: Lookup): Resolved {
  const missing: string[] = []
  return { text: resolve(text, []), missing }

  function resolve(text: string, within: readonly string[]): string {
    const start = text.indexOf('${')
    const end = start < 0 ? -1 : closing(text, start)
    if (end < 0) return text
    const [name, fallback] = split(resolve(text.slice(start + 2, end), within))
    return text.slice(0, start) + definition(name, fallback, within) + resolve(text.slice(end + 1), within)
  }

  function definition(name: string, fallback: string | undefined, within: readonly string[]): string {
    const found = within.includes(name) ? undefined : lookup(name)
    if (found !== undefined) return resolve(found, [...within, name])
    if (fallback !== undefined) return fallback
    missing.push(name)
    return `\${${name}}`
  }
}

/** The index of the brace that closes the one of `${` at `start`; −1: none does. */
function closing(text: string, start: number): number {
  let depth = 0
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '{') depth++
    else if (text[i] === '}' && --depth === 0) return i
  }
  return -1
}

function split(inside: string): [name: string, fallback: string | undefined] {
  const colon = inside.indexOf(':')
  return colon < 0 ? [inside.trim(), undefined] : [inside.slice(0, colon).trim(), inside.slice(colon + 1)]
}
