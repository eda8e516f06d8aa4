/** @module Which of Ribbon's vectors are not replayed, and why. */

interface Fields {
  readonly id: string
  readonly properties?: Readonly<Record<string, number | boolean>>
  readonly phases?: readonly { readonly notReady?: readonly number[] }[]
  readonly zones?: readonly (string | null)[]
  readonly draws?: readonly unknown[]
}

interface Exception {
  readonly ids: RegExp
  /** Of these ids only the vectors that are so. */
  readonly where?: (vector: Fields) => boolean
  readonly reason: string
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    ids: /^round-robin\//,
    where: ({ phases = [] }) => phases.some(({ notReady }) => notReady !== undefined),
    reason: 'an instance is alive or not: one that is being primed counts as not alive',
  },
  {
    ids: /^availability-filtering\/limit-/,
    where: ({ properties }) => properties?.['svc.ribbon.ActiveConnectionsLimit'] === 0,
    reason: 'a limit of 0, by which Ribbon leaves out everybody and then nobody, is refused',
  },
  {
    ids: /^zone-avoidance\//,
    where: ({ draws }) => draws !== undefined,
    reason: 'zones are drawn by a generator of ours',
  },
  {
    ids: /^zone-avoidance\/rule-/,
    where: ({ properties }) => properties?.['niws.loadbalancer.zoneAvoidanceRule.enabled'] === false,
    reason: 'zone avoidance that avoids no zone is availability filtering by another name',
  },
  {
    ids: /^best-available\/random-025$/,
    reason: 'who leaves the list with nothing in flight is forgotten; Ribbon keeps its statistics for 30 minutes',
  },
  {
    ids: /^zone-avoidance\/rule-tripped-04[78]$/,
    reason:
      'servers without a zone are one more zone to Ribbon, which it never leaves out, nor one whose name has capitals',
  },
]

export function exceptionOf(vector: { readonly id: string }): Exception | undefined {
  return EXCEPTIONS.find(({ ids, where = () => true }) => ids.test(vector.id) && where(vector))
}
