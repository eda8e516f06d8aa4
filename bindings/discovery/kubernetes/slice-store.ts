/** @module The slices of one service, as listed and then changed by a watch. */

import { DiscoveryError } from '../../errors.js'
import { objectAt, textAt } from '../registry/reading.js'
import { metadataOf, readSlice, type Slice } from './slice.js'

export interface SliceList {
  readonly items: readonly unknown[]
  readonly resourceVersion: string
}

/** A slice, and how new what it says is beside the others: the higher, the newer. */
export interface KeptSlice {
  readonly slice: Slice
  readonly rank: number
}

export class SliceStore {
  readonly #slices = new Map<string, KeptSlice>()
  #resourceVersion: string
  #arrivals = 0
  readonly #quoted: (said: string) => string

  /**
   * @param quoted what the API says, as it may be told
   * @throws EVENKEEL_DISCOVERY, malformed
   */
  constructor({ items, resourceVersion }: SliceList, quoted: (said: string) => string) {
    this.#quoted = quoted
    this.#resourceVersion = resourceVersion
    const slices = items.map((item, i) => readSlice(item, `items[${i}]`))
    for (const slice of slices.sort((a, b) => a.changedAtMs - b.changedAtMs)) this.#keep(slice)
  }

  /** What a watch goes on from. A text that means nothing but "here": never compared. */
  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get slices(): readonly KeptSlice[] {
    return [...this.#slices.values()]
  }

  /**
   * Whether it has changed anything.
   * @param event a line of a watch
   * @throws EVENKEEL_DISCOVERY: malformed; that of an ERROR
   */
  apply(event: unknown): boolean {
    const { type, object } = objectAt(event, 'event')
    switch (textAt(type, 'event.type')) {
      case 'ADDED':
      case 'MODIFIED': {
        const slice = readSlice(object, 'event.object')
        this.#keep(slice)
        this.#resourceVersion = slice.resourceVersion
        return true
      }
      case 'DELETED': {
        const { metadata, resourceVersion } = metadataOf(object, 'event.object')
        this.#resourceVersion = resourceVersion
        return this.#slices.delete(textAt(metadata.name, 'event.object.metadata.name'))
      }
      case 'BOOKMARK':
        this.#resourceVersion = metadataOf(object, 'event.object').resourceVersion
        return false
      case 'ERROR':
        throw failureOf(objectAt(object, 'event.object'), this.#quoted)
      default:
        // Later versions may say more.
        return false
    }
  }

  #keep(slice: Slice): void {
    this.#slices.set(slice.name, { slice, rank: ++this.#arrivals })
  }
}

/** Of a Status object. */
function failureOf(
  { code, reason, message }: Record<string, unknown>,
  quoted: (said: string) => string,
): DiscoveryError {
  const status = typeof code === 'number' ? code : reason === 'Expired' || reason === 'Gone' ? 410 : 500
  const failure = status === 401 || status === 403 ? 'denied' : status === 429 ? 'limited' : 'status'
  const said = typeof message === 'string' ? `: ${quoted(message)}` : ''
  return new DiscoveryError(`kubernetes: the watch ended with status ${status}${said}`, { failure, status })
}
