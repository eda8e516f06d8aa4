/** @module Which documents apply: `spring.config.activate.on-profile`, and `spring.profiles` as it was before. */

import { ConfigError } from '../index.js'
import { relaxedName } from './name.js'
import type { Property, PropertyDocument } from './property.js'

const GUARDS = ['spring.config.activate.onprofile', 'spring.profiles']
const PLATFORM_GUARD = 'spring.config.activate.oncloudplatform'

/** The guard for a cloud platform, which nothing here can know. */
export function platformGuard(document: PropertyDocument): Property | undefined {
  return document.find(({ elements }) => relaxedName(elements) === PLATFORM_GUARD)
}

/** @throws EVENKEEL_CONFIG for an expression that is none */
export function isActive(document: PropertyDocument, profiles: readonly string[]): boolean {
  const active = new Set(profiles.length === 0 ? ['default'] : profiles)
  const guards = document.filter(({ elements }) => GUARDS.includes(relaxedName(elements)))
  return guards.every((guard) => {
    const { value } = guard
    return value.split(',').some((expression) => accepts(expression, active, guard))
  })
}

/** Spring's profile expressions: names, `!`, `&`, `|` and parentheses; `&` and `|` don't mix without these. */
function accepts(expression: string, active: ReadonlySet<string>, { key, value }: Property): boolean {
  const tokens = expression.match(/[()&|!]|[^()&|!\s]+/g) ?? []
  let at = 0
  const result = either()
  if (at < tokens.length) refuse()
  return result

  function either(): boolean {
    let result = single()
    const operator = tokens[at]
    while (tokens[at] === '&' || tokens[at] === '|') {
      if (tokens[at++] !== operator) refuse()
      const next = single()
      result = operator === '&' ? result && next : result || next
    }
    return result
  }

  function single(): boolean {
    const token = tokens[at++]
    if (token === '!') return !single()
    if (token === '(') {
      const result = either()
      if (tokens[at++] !== ')') refuse()
      return result
    }
    if (token === undefined || /[)&|]/.test(token)) refuse()
    return active.has(token)
  }

  function refuse(): never {
    throw new ConfigError(
      `${key} must be profiles, or an expression such as "prod & (eu | us)", not ${JSON.stringify(value)}`,
      { option: key },
    )
  }
}
