/** @module What Consul says of an answer in its headers. */

export interface Standing {
  /** How far behind the leader who answered may be; undefined: not said. */
  readonly ageMs: number | undefined
  /** A server answered that knows no leader. */
  readonly isLeaderless: boolean
  /** There is something that the token may not see. */
  readonly isFiltered: boolean
  /** blocking-query or streaming; newer versions say which. */
  readonly backend: string | undefined
}

/** The index to wait for; where there is none that one can wait for, 1, for which any is newer. */
export function indexOf(headers: Headers): bigint {
  const text = headers.get('x-consul-index') ?? ''
  const index = /^\d{1,20}$/.test(text) ? BigInt(text) : 0n
  return index < 1n ? 1n : index
}

export function standingOf(headers: Headers): Standing {
  const contact = countOf(headers.get('x-consul-lastcontact'))
  const cacheAge = countOf(headers.get('age'))
  const ages = [contact, cacheAge === undefined ? undefined : cacheAge * 1_000].filter((age) => age !== undefined)
  const backend = headers.get('x-consul-query-backend') ?? undefined
  return {
    ageMs: ages.length === 0 ? undefined : Math.max(...ages),
    // The streaming backend always says that there is none (hashicorp/consul#9776).
    isLeaderless: headers.get('x-consul-knownleader') === 'false' && backend === 'blocking-query',
    isFiltered: headers.get('x-consul-results-filtered-by-acls') === 'true',
    backend,
  }
}

function countOf(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}
