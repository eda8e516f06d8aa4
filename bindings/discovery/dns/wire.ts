/** @module DNS messages: one question, and the answers of the types that lists are made of. RFC 1035 §4. */

import { decode, encode, RECURSION_DESIRED } from 'dns-packet'
import { Buffer } from './buffer.js'
import type { DnsType } from './records.js'

export interface WireAnswer {
  /** As `answerOf` takes them. */
  readonly records: readonly unknown[]
  readonly chainTtls: readonly number[]
}

/** Recursion desired, one question of class IN. */
export function encodeQuestion(id: number, name: string, type: DnsType): Uint8Array {
  return encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ name, type }] })
}

/** Whether a message answers this question: anybody may send a datagram. */
export function answers(message: Uint8Array, question: Uint8Array): boolean {
  if (message.length < question.length || ((message[2] as number) & 0x80) === 0) return false
  for (const place of [ID, ID + 1, COUNTS, COUNTS + 1]) if (message[place] !== question[place]) return false
  for (let i = HEADER_OCTETS; i < question.length; i++) {
    // Servers may change the case of letters.
    if (lower(message[i] as number) !== lower(question[i] as number)) return false
  }
  return true
}

const lower = (octet: number) => (octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet)

/** Where in the header: the id, the flags' second octet, how many questions, answers, authorities, additional records. */
const [ID, CODES, COUNTS, AUTHORITIES, HEADER_OCTETS] = [0, 3, 4, 8, 12]

/** Whether not all of it fitted into a datagram. What there is may end anywhere. */
export function isTruncated(message: Uint8Array): boolean {
  return ((message[2] as number) & 0x02) !== 0
}

export function rcodeOf(message: Uint8Array): number {
  return (message[CODES] as number) & 0x0f
}

/** @throws Error for a message that is cut off, or whose names go in circles */
export function decodeAnswer(message: Uint8Array, type: DnsType): WireAnswer {
  // What stands behind the answers is of no interest, and may be of kinds that can't be read.
  const answered = Buffer.from(message).fill(0, AUTHORITIES, HEADER_OCTETS)
  const { answers: rows = [] } = decode(answered)
  if (decode.bytes > message.length) throw new RangeError('a record goes beyond the message')
  const records: unknown[] = []
  const chainTtls: number[] = []
  for (const row of rows) {
    if (row.type === 'CNAME') chainTtls.push(row.ttl ?? 0)
    else if (row.type !== type) continue
    else if (row.type === 'SRV') records.push({ ...row.data, ttl: row.ttl })
    else records.push({ address: row.data, ttl: row.ttl })
  }
  return { records, chainTtls }
}
