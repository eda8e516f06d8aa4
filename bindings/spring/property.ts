/** @module One key of a file with its value, flat, as Spring sees it whatever the format. */

import { type Element, elementsOf } from './name.js'

export interface Property {
  /** As written, flattened: `spring.cloud.loadbalancer.cache.ttl`. */
  readonly key: string
  readonly elements: readonly Element[]
  readonly value: string
  readonly line: number | undefined
}

/** The properties of one document of a file, in their order. */
export type PropertyDocument = readonly Property[]

export function property(key: string, value: string, line: number | undefined): Property {
  return { key, elements: elementsOf(key), value, line }
}
