/** @module One message of a watch. */

import { DiscoveryError } from '../../errors.js'
import { arrayAt, objectAt } from '../registry/reading.js'
import { int64At } from './encoding.js'
import type { KeyTable } from './key-table.js'
import { keyValueAt } from './key-value.js'
import { deniedBy } from './refusals.js'

class CompactedError extends DiscoveryError {}

export function isCompacted(error: unknown): boolean {
  return error instanceof CompactedError
}

/**
 * Takes its events into the table. `quoted`: what the server says, as it may be told. 'partial': others of the same revision follow.
 * @throws EVENKEEL_DISCOVERY: malformed; denied or status for a watch that was refused or canceled
 */
export function takeWatchAnswer(
  answer: Record<string, unknown>,
  table: KeyTable,
  from: string,
  quoted: (said: string) => string,
): 'created' | 'changed' | 'partial' | 'progress' {
  if (answer.canceled === true) throw cancellation(answer, from, quoted)
  if (answer.created === true) return 'created'
  const events = answer.events === undefined ? [] : arrayAt(answer.events, `${from}: events`)
  for (const [i, each] of events.entries()) {
    const where = `${from}: events[${i}]`
    const { type, kv } = objectAt(each, where)
    const keyValue = keyValueAt(kv, `${where}.kv`)
    // A put is the type's zero value, which the gateway leaves out.
    if (type === 'DELETE') table.delete(keyValue)
    else table.put(keyValue)
  }
  if (answer.fragment === true) return 'partial'
  return events.length > 0 ? 'changed' : 'progress'
}

function cancellation(
  { compact_revision, cancel_reason }: Record<string, unknown>,
  from: string,
  quoted: (said: string) => string,
): DiscoveryError {
  const compacted = int64At(compact_revision, `${from}: compact_revision`)
  if (compacted > 0) {
    return new CompactedError(`${from}: the history before revision ${compacted} is gone`, { failure: 'status' })
  }
  const said = typeof cancel_reason === 'string' ? quoted(cancel_reason) : 'no reason given'
  return new DiscoveryError(`${from}: the server canceled the watch: ${said}`, {
    failure: deniedBy(said) ? 'denied' : 'status',
  })
}
