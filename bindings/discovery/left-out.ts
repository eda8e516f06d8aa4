/** @module What is told of a list that can be read in part. */

import { DiscoveryError } from '../errors.js'

/** The first few of them, and how many there are. @param reasons one for each entry, at least one */
export function leftOut(reasons: readonly string[]): string {
  const more = reasons.length > 3 ? `; and ${reasons.length - 3} more` : ''
  return `left out, as it can't be read: ${reasons.slice(0, 3).join('; ')}${more}`
}

/** Tells of the same entries once. */
export class LeftOut {
  #told = ''

  /** The error to tell; undefined: there is nothing that was not told of the list before. */
  news(reasons: readonly string[], serviceId: string): DiscoveryError | undefined {
    const text = reasons.length > 0 ? leftOut(reasons) : ''
    const isNew = text !== '' && text !== this.#told
    this.#told = text
    return isNew ? new DiscoveryError(text, { serviceId, failure: 'malformed' }) : undefined
  }
}
