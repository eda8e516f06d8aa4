/** @module Reads `spring.cloud.loadbalancer.*`: the keys of all clients, and of each under `clients.<id>`. */

import { nearest } from './distance.js'
import { apply, type Reading } from './key.js'
import { PREFIX, TABLE } from './keys.js'
import { type Element, relaxed, relaxedName, spelled } from './name.js'
import type { Property } from './property.js'
import type { Scopes } from './scopes.js'
import { suggestion } from './suggestion.js'

const PREFIX_LENGTH = PREFIX.split('.').length

/** Reads the property if it is one of these. */
export function readLoadBalancer(property: Property, scopes: Scopes, reading: Reading): boolean {
  const { elements } = property
  const { report } = reading
  const misspelt = behindMisspeltPrefix(elements)
  if (misspelt !== undefined) {
    const meant = suggestion(misspelt) || `; did you mean one under ${PREFIX}?`
    report.warn(property, `not read: Spring knows no such key${meant}`)
    return true
  }
  if (elements.length <= PREFIX_LENGTH || relaxedName(elements.slice(0, PREFIX_LENGTH)) !== PREFIX) return false
  const written = spelled(elements.slice(0, PREFIX_LENGTH))
  if (written.toLowerCase() !== PREFIX) report.warn(property, `read as ${PREFIX}, which is the name to write`)

  const rest = elements.slice(PREFIX_LENGTH)
  if (relaxed(rest[0]?.text ?? '') !== 'clients') {
    const found = TABLE.find(rest)
    if (found === undefined) report.warn(property, unknown(rest))
    else apply(found.key, property, found.mapKey, scopes.all, reading)
    return true
  }
  const [, id, ...name] = rest
  if (id === undefined || name.length === 0) {
    report.warn(property, `not read: a client's keys are ${PREFIX}.clients.<id>.<key>`)
    return true
  }
  const found = TABLE.find(name)
  if (found === undefined) report.warn(property, unknown(rest))
  else if (found.key.global) {
    report.warn(property, `not read: SCLB takes ${found.name} from ${PREFIX}.${found.name} only, for all clients`)
  } else {
    if (!id.bracketed && /[^A-Za-z0-9-]/.test(id.text)) report.warn(property, dropped(id.text))
    apply(found.key, property, found.mapKey, scopes.client(id.text), reading)
  }
  return true
}

/** What follows a name that looks like the prefix, as some do that stand in documentation; undefined: none does. */
function behindMisspeltPrefix(elements: readonly Element[]): readonly Element[] | undefined {
  const [spring, cloud, third] = elements.map(({ text }) => relaxed(text))
  if (spring !== 'spring' || cloud === undefined) return undefined
  if (cloud === 'cloudloadbalancer' || cloud === 'loadbalancer') return elements.slice(2)
  const isSlip = cloud === 'cloud' && third !== undefined && third !== 'loadbalancer'
  return isSlip && nearest(third, ['loadbalancer']) !== undefined ? elements.slice(3) : undefined
}

function unknown(rest: readonly Element[]): string {
  return `not read: SCLB knows no such key${suggestion(rest)}`
}

function dropped(id: string): string {
  const kept = id.replace(/[^A-Za-z0-9-]/g, '')
  return `read as "${id}"; Spring reads "${kept}" unless the id is in brackets: "[${id}]"`
}
