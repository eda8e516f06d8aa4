/** @module What a balancer tells about itself. */

import type { ServiceInstance } from './instance.js'

/** One layer of the supplier chain, discovery first. */
export interface ExplainedLayer {
  name: string
  in: number
  out: number
  fellBack?: boolean
  reason?: string
  ageMs?: number
}

export interface Explanation {
  serviceId: string
  policy: string
  /** Discovery name, address, namespace, list version, order digest. */
  source: Record<string, string>
  layers: readonly ExplainedLayer[]
  candidates: readonly ServiceInstance[]
  excluded: readonly { instanceId: string; by: string; reason: string }[]
  /** Unused metadata, unreadable weights, own zone unset, … */
  notes: readonly string[]
}

export interface InstanceStats {
  instanceId: string
  picks: number
  inFlight: number
  successes: number
  failures: number
  cancelled: number
  /** Moving average; NaN: no latency was measured. */
  latencyMs: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
  /** How long its check, or a breaker that something goes by, has kept it out; 0: it is not. */
  ejectedForMs: number
  drained: boolean
  weight: number
  /** Where they are recorded: option `serverStats`, or a policy or supplier that goes by them. */
  server?: ServerStats
}

/** Ribbon's statistics of an instance (ServerStats). Moments are the service's clock; NaN: there is none yet. */
export interface ServerStats {
  /** Completed, however they ended. */
  requests: number
  /** In flight; forgotten when none began or ended for `activeExpiryMs`. */
  active: number
  /** That began in the last window of `requestWindowMs`; the next begins with who counts or looks once it is over. */
  requestsInWindow: number
  /** In a row, up to now. */
  connectionFailures: number
  /** In the current `failureWindowMs`. */
  failuresInWindow: number
  /** Its breaker keeps requests out, of policies and suppliers that go by it. */
  tripped: boolean
  /** How much longer it does. */
  trippedForMs: number
  /** All blackouts added up, those that overlapped too. */
  blackoutMs: number
  /** Of all that were measured since the instance was first listed, failures too. */
  responseTimes: { count: number; meanMs: number; variance: number; minMs: number; maxMs: number }
  /** With `percentiles`: of the last complete period that had any. */
  percentilesMs?: ResponsePercentiles
  firstAccessedAt: number
  lastAccessedAt: number
  lastFailureAt: number
}

/** By percent: `percentilesMs[99.5]`. */
export type ResponsePercentiles = Readonly<Record<10 | 25 | 50 | 75 | 90 | 95 | 98 | 99 | 99.5, number>>

/** Ribbon's ZoneSnapshot. */
export interface ZoneStats {
  instances: number
  tripped: number
  /** Requests in flight. */
  active: number
  /** Those of the instances that are not tripped, for each of these; −1: all are. */
  load: number
}

export interface ServiceStats {
  serviceId: string
  instances: readonly InstanceStats[]
  /** By zone in lower case, `unknown` for none; empty unless `server` statistics are recorded. */
  zones: Readonly<Record<string, ZoneStats>>
  discovered: number
  cached: number
  candidates: number
  listAgeMs: number
  /** Polls that should have confirmed the list since it last was; NaN: the service does not poll, or has no list. */
  missedCycles: number
  noInstance: number
  fallbacks: Record<string, number>
  retriesSame: number
  retriesNext: number
  cacheHits: number
  cacheMisses: number
  discoveryErrors: number
  healthChecks: number
  healthFailures: number
  /** Mean duration of a health check; NaN before the first. */
  healthCheckMs: number
  /** Mean duration of the selections that were timed: those with observers, metrics or a trace; NaN: none was. */
  selectionMs: number
  /** SCLB's meters, empty unless the service has `metrics`. */
  meters: readonly MeterSeries[]
}

/** One meter with one set of tags, named as in Micrometer. */
export interface MeterSeries {
  name:
    | 'loadbalancer.requests.active'
    | 'loadbalancer.requests.success'
    | 'loadbalancer.requests.failed'
    | 'loadbalancer.requests.discard'
  tags: Readonly<Record<string, string>>
  /** Of a gauge: its value. */
  count: number
  /** Of a timer. */
  totalMs?: number
  maxMs?: number
}

export interface ListChange {
  added: readonly ServiceInstance[]
  removed: readonly ServiceInstance[]
  changed: readonly ServiceInstance[]
}

export interface ServiceEvents {
  change: ListChange
  eject: { instance: ServiceInstance; reason: string; forMs: number }
  restore: { instance: ServiceInstance }
  fallback: { supplier: string; reason: string }
  discoveryError: { error: unknown; servedAgeMs: number }
}

export interface TimelineEntry {
  instanceId: string
  at: number
  event:
    | 'discovered'
    | 'removed-by-registry'
    | 'dropped-from-cache'
    | 'first-picked'
    | 'last-picked'
    | 'ejected'
    | 'restored'
    | 'drained'
    | 'stopped-by-owner'
}

export interface PickRecord {
  at: number
  instanceId?: string
  attempt: number
  policy: string
  layers: Explanation['layers']
  outcome?: 'SUCCESS' | 'FAILED' | 'DISCARD' | 'CANCELLED'
  zone?: string
  version?: string
  candidates: number
  selectionMs: number
}
