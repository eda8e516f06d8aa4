/** @module Reads `spring.cloud.loadbalancer.*`: the keys of all clients, and of each under `clients.<id>`. */

import { nearest } from './distance.js'
import { apply, type Reading } from './key.js'
import { KEYS, PREFIX } from './keys.js'
import { type Element, relaxed, relaxedName, spelled } from './name.js'
import type { Property } from './property.js'
import type { Scopes } from './scopes.js'
import { tableOf } from './table.js'

const TABLE = tableOf(KEYS)
const PREFIX_LENGTH = PREFIX.split('.').length

/** Reads the property if it is one of these. */
export function readLoadBalancer(property: Property, scopes: Scopes, reading: Reading): boolean {
  const { elements } = property
  const { report } = reading
  const misspelt = misspeltPrefix(elements)
  if (misspelt !== undefined) {
    report.warn(property, `not read: Spring knows no such key; did you mean ${misspelt}?`)
    return true
  }
  if (elements.length <= PREFIX_LENGTH || relaxedName(elements.slice(0, PREFIX_LENGTH)) !== PREFIX) return false
  const written = spelled(elements.slice(0, PREFIX_LENGTH))
  if (written.toLowerCase() !== PREFIX) report.warn(property, `read as ${PREFIX}, which is the name to write`)

  const rest = elements.slice(PREFIX_LENGTH)
  if (relaxed(rest[0]?.text ?? '') !== 'clients') {
    const found = TABLE.find(rest)
    if (found === undefined) report.warn(property, unknown(rest, `${PREFIX}.`))
    else apply(found.key, property, found.mapKey, scopes.all, reading)
    return true
  }
  const [, id, ...name] = rest
  if (id === undefined || name.length === 0) {
    report.warn(property, `not read: a client's keys are ${PREFIX}.clients.<id>.<key>`)
    return true
  }
  const settings = scopes.client(id.text)
  const found = TABLE.find(name)
  if (found === undefined) report.warn(property, unknown(name, `${PREFIX}.clients.${id.text}.`))
  else if (found.key.global) {
    report.warn(property, `not read: SCLB takes ${found.name} from ${PREFIX}.${found.name} only, for all clients`)
  } else {
    if (!id.bracketed && /[^A-Za-z0-9-]/.test(id.text)) report.warn(property, dropped(id.text))
    apply(found.key, property, found.mapKey, settings, reading)
  }
  return true
}

/** What is meant by names that look like the prefix, some of which stand in documentation. */
function misspeltPrefix(elements: readonly Element[]): string | undefined {
  const [spring, cloud, third] = elements.map(({ text }) => relaxed(text))
  if (spring !== 'spring' || cloud === undefined) return undefined
  if (cloud === 'cloudloadbalancer' || cloud === 'loadbalancer') return `${PREFIX}.${spelled(elements.slice(2))}`
  const isSlip = cloud === 'cloud' && third !== undefined && third !== 'loadbalancer'
  if (isSlip && nearest(third, ['loadbalancer']) !== undefined) return `${PREFIX}.${spelled(elements.slice(3))}`
  return undefined
}

function unknown(rest: readonly Element[], prefix: string): string {
  const suggestion = suggest(rest, prefix)
  return `not read: SCLB knows no such key${suggestion === undefined ? '' : `; did you mean ${suggestion}?`}`
}

function suggest(rest: readonly Element[], prefix: string): string | undefined {
  const [first, ...others] = rest
  // `<id>.retry.enabled`, as some documentation has it.
  const ofClient = TABLE.find(others)
  if (first !== undefined && ofClient !== undefined && prefix === `${PREFIX}.`) {
    return `${PREFIX}.clients.${first.text}.${spelled(others)}`
  }
  // A key without its group.
  const name = relaxedName(rest)
  const grouped = TABLE.names.find((known) => known.split('.').map(relaxed).join('.').endsWith(`.${name}`))
  const near = grouped ?? nearest(spelled(rest), TABLE.names)
  if (near === undefined) return undefined
  return `${prefix}${near}${KEYS[near]?.map ? '.<key>' : ''}`
}

function dropped(id: string): string {
  const kept = id.replace(/[^A-Za-z0-9-]/g, '')
  return `read as "${id}"; Spring reads "${kept}" unless the id is in brackets: "[${id}]"`
}
