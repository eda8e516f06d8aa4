/** @module What a key that nobody reads was probably meant to be: never another that nobody reads. */

import { slipsBetween } from './distance.js'
import { KEYS, PREFIX, TABLE } from './keys.js'
import { child, type Element, relaxed, spelled, written } from './name.js'

interface Meant {
  /** In full. */
  readonly key: string
  /** What else has to be known of it. */
  readonly note?: string
}

const GLOBAL = 'It is global: SCLB reads it for all clients only'
const DOTTED = 'An id with dots stands in brackets'
const NO_EFFECT = 'It has no effect here either'

/** What follows "no such key" in a message. `rest`: what stands behind the prefix. */
export function suggestion(rest: readonly Element[]): string {
  const meant = meantBy(rest)
  if (meant === undefined) return ''
  return `; did you mean ${meant.key}?${meant.note === undefined ? '' : ` ${meant.note}`}`
}

function meantBy(rest: readonly Element[]): Meant | undefined {
  const [first, id, ...name] = rest
  const isOfClient = first !== undefined && slipsBetween(relaxed(first.text), 'clients') !== undefined
  if (isOfClient && id !== undefined && name.length > 0) return meantOfClient(id, name)
  if (TABLE.find(rest) !== undefined) return { key: inAll(written(rest)) }
  // `<id>.retry.enabled`, as some documentation has it.
  return behindId(rest) ?? nearKey(rest, inAll) ?? globalTail(rest)
}

function meantOfClient(id: Element, name: readonly Element[]): Meant | undefined {
  const found = TABLE.find(name)
  if (found?.key.global) return { key: inAll(found.name), note: GLOBAL }
  if (found !== undefined) return { key: inClient(id.text, written(name)) }
  const ofIt = (key: string) => inClient(id.text, key)
  return behindId([id, ...name], 2) ?? nearKey(name, ofIt, GLOBAL) ?? globalTail(name)
}

/** A key that a client may have, with its id of `shortest` elements or more before it. */
function behindId(elements: readonly Element[], shortest = 1): Meant | undefined {
  for (let length = shortest; length < elements.length; length++) {
    const name = elements.slice(length)
    const found = TABLE.find(name)
    if (found === undefined || found.key.global) continue
    const key = inClient(spelled(elements.slice(0, length)), written(name))
    return length > 1 ? { key, note: DOTTED } : { key }
  }
  return undefined
}

/** A key of all clients with something before it. */
function globalTail(elements: readonly Element[]): Meant | undefined {
  for (let length = 1; length < elements.length; length++) {
    const found = TABLE.find(elements.slice(length))
    if (found?.key.global && found.key.slot !== undefined) return { key: inAll(found.name), note: GLOBAL }
  }
  return undefined
}

/**
 * The key with the fewest slips, or the one whose group is missing.
 * @param globalNote given for a client: what is to be said of a key that it cannot have
 */
function nearKey(
  elements: readonly Element[],
  inScope: (key: string) => string,
  globalNote?: string,
): Meant | undefined {
  let best: Meant | undefined
  let least = Number.POSITIVE_INFINITY
  for (const [name, { global, slot, map }] of Object.entries(KEYS)) {
    const length = map ? Math.min(elements.length, name.split('.').length) : elements.length
    const slips = slipsFrom(elements.slice(0, length), name)
    // Of two as near, the one that the scope may have.
    const weight = slips + (global && globalNote !== undefined ? 0.5 : 0)
    if (!(weight < least)) continue
    least = weight
    const rest = elements.slice(length)
    const key = !map ? name : rest.length === 0 ? `${name}.<key>` : child(name, written(rest))
    if (slot === undefined) best = { key: inAll(key), note: NO_EFFECT }
    else if (global && globalNote !== undefined) best = { key: inAll(key), note: globalNote }
    else best = { key: inScope(key) }
  }
  return best
}

/** Infinite: they are not alike. Each part of a name is weighed by itself: a long one does not excuse another. */
function slipsFrom(elements: readonly Element[], name: string): number {
  const given = elements.map(({ text }) => relaxed(text))
  const parts = name.split('.').map(relaxed)
  if (parts.length > given.length && parts.slice(-given.length).join('.') === given.join('.')) return 0
  // Parts that are wrongly split or joined: `health.check.interval`.
  if (parts.length !== given.length)
    return slipsBetween(given.join(''), parts.join('')) === 0 ? 0 : Number.POSITIVE_INFINITY
  let slips = 0
  for (const [i, part] of parts.entries()) {
    slips += slipsBetween(given[i] as string, part) ?? Number.POSITIVE_INFINITY
  }
  return slips
}

function inAll(key: string): string {
  return child(PREFIX, key)
}

function inClient(id: string, key: string): string {
  return child(child(`${PREFIX}.clients`, written([{ text: id, bracketed: false }])), key)
}
