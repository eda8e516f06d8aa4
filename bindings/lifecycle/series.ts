/** @module The series of one meter by their tags, never more than so many. */

import type { ServiceInstance } from '../types/instance.js'

export type Tags = Readonly<Record<string, string>>

/** One meter with one set of tags. */
export interface Series {
  readonly tags: Tags
  /** Whom its tags name; when that one leaves the list, the series is dropped. */
  readonly instance: ServiceInstance | undefined
  count: number
  totalMs: number
  maxMs: number
}

export const OTHER = 'OTHER'
const INSTANCE_TAGS: readonly string[] = ['serviceInstance.instanceId', 'serviceInstance.host', 'serviceInstance.port']

/**
 * What new tags give up as the series run out, so that there is always room for coarser ones. The last one of all
 * takes whatever finds no room elsewhere.
 *
 *     0 ── exact ── ¾ ── uri OTHER ── ⅞ ── instance OTHER too ── all but one ── all OTHER
 */
const STEPS: readonly { room(most: number): number; gives: readonly string[] }[] = [
  { room: (most) => Math.floor((most * 3) / 4), gives: [] },
  { room: (most) => Math.floor((most * 7) / 8), gives: ['uri'] },
  { room: (most) => most - 1, gives: ['uri', ...INSTANCE_TAGS] },
]

export class SeriesSet {
  readonly #most: number
  readonly #byKey = new Map<string, Series>()
  #last: Series | undefined

  constructor(most: number) {
    this.#most = most
  }

  /** The series with these tags, or a coarser one if there is no room for it. */
  at(tags: Tags, instance: ServiceInstance | undefined): Series {
    for (const { room, gives } of STEPS) {
      const kept = gives.length === 0 ? tags : withOther(tags, gives)
      const key = keyOf(kept)
      const known = this.#byKey.get(key)
      if (known !== undefined) return known
      if (this.#byKey.size < room(this.#most)) return this.#add(key, kept, gives.length < 2 ? instance : undefined)
    }
    const rest = Object.keys(tags).filter((name) => name !== 'serviceId')
    this.#last ??= this.#add('', withOther(tags, rest), undefined)
    return this.#last
  }

  dropIf(unwanted: (series: Series) => boolean): void {
    for (const [key, series] of this.#byKey) if (unwanted(series)) this.#byKey.delete(key)
  }

  values(): IterableIterator<Series> {
    return this.#byKey.values()
  }

  #add(key: string, tags: Tags, instance: ServiceInstance | undefined): Series {
    const series = { tags: Object.freeze({ ...tags }), instance, count: 0, totalMs: 0, maxMs: 0 }
    this.#byKey.set(key, series)
    return series
  }
}

function withOther(tags: Tags, names: readonly string[]): Tags {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, names.includes(name) ? OTHER : value]))
}

function keyOf(tags: Tags): string {
  let key = ''
  for (const name in tags) key += `${name}\0${tags[name]}\0`
  return key
}
