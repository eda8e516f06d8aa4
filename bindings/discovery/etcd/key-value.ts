/** @module The gateway's answers to a range, and the key-values in them and in events. */

import { arrayAt, objectAt } from '../registry/reading.js'
import { bytesAt, int64At } from './encoding.js'

export interface KeyValue {
  /** Tells keys apart, whatever bytes they have. */
  readonly id: string
  /** What is no UTF-8 in it is replaced. */
  readonly key: string
  /** undefined: no UTF-8. */
  readonly value: string | undefined
  readonly modRevision: number
}

export interface KeyRange {
  /** Of the whole store, at the time of the answer. */
  readonly revision: number
  readonly keyValues: readonly KeyValue[]
  /** Of all keys in the range, those that were filtered out too. */
  readonly count: number
}

/** @throws EVENKEEL_DISCOVERY, malformed */
export function keyRangeAt(answer: Record<string, unknown>, where: string): KeyRange {
  const keyValues = answer.kvs === undefined ? [] : arrayAt(answer.kvs, `${where}: kvs`)
  return {
    revision: revisionAt(answer, where),
    keyValues: keyValues.map((each, i) => keyValueAt(each, `${where}: kvs[${i}]`)),
    count: int64At(answer.count, `${where}: count`),
  }
}

/** @throws EVENKEEL_DISCOVERY, malformed */
function revisionAt(answer: Record<string, unknown>, where: string): number {
  return int64At(objectAt(answer.header, `${where}: header`).revision, `${where}: header.revision`)
}

/** @throws EVENKEEL_DISCOVERY, malformed */
export function keyValueAt(given: unknown, where: string): KeyValue {
  const { key, value, mod_revision } = objectAt(given, where)
  const bytes = bytesAt(key, `${where}.key`)
  return {
    id: key as string,
    key: new TextDecoder().decode(bytes),
    value: value === undefined ? '' : textOf(bytesAt(value, `${where}.value`)),
    modRevision: int64At(mod_revision, `${where}.mod_revision`),
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
