/** @module 100 000 seeded picks a policy, as one number: the same on every runtime. */

import { expect } from 'chai'
import {
  createLoadBalancer,
  type InstanceInit,
  type Lease,
  type PickRequest,
  type Service,
  type ServiceOptions,
} from 'evenkeel'
import type { Case } from './case.js'
import { handClock, indexer } from './services.js'

const PICKS = 100_000
const INSTANCES = 23

const instances: InstanceInit[] = Array.from({ length: INSTANCES }, (_, i) => ({
  url: `http://10.0.0.${i + 1}:8080`,
  weight: 1 + ((i * 7) % 5) + (i === 11 ? 1_000 : 0) + (i === 4 ? 0.25 : 0),
}))

const zoned: InstanceInit[] = instances.map((instance, i) => ({ ...(instance as object), zone: `z${i % 4}` }))

type Trace = (service: Service, take: (lease: Lease) => void, clock: ReturnType<typeof handClock>) => void

/** Every lease ends at once. */
const plain: Trace = (service, take) => {
  for (let i = 0; i < PICKS; i++) {
    const lease = leaseOf(service)
    take(lease)
    lease.done()
  }
}

/** As above, each lease for one of 5 000 keys, some of them not ASCII, or for none. */
const keyed: Trace = (service, take) => {
  for (let i = 0; i < PICKS; i++) {
    const lease = leaseOf(service, requestOf(i))
    take(lease)
    lease.done()
  }
}

/** Keys, and loads that differ all the time. */
const keyedOverlapping: Trace = (service, take) => {
  const open: Lease[] = []
  for (let i = 0; i < PICKS; i++) {
    const lease = leaseOf(service, requestOf(i))
    take(lease)
    open.push(lease)
    const most = (i * 2_654_435_761) % 64
    while (open.length > most) open.splice((i * 40_503) % open.length, 1)[0]?.done()
  }
  for (const lease of open) lease.done()
}

/** Each lease for the address of a client. */
const addressed: Trace = (service, take) => {
  for (let i = 0; i < PICKS; i++) {
    const [high, low] = [(i * 7_919) % 250, (i * 31) % 20]
    const address = i % 5 === 0 ? `[2001:DB8:0::${low.toString(16)}]:443` : `203.0.${low}.${high}`
    const lease = leaseOf(service, { headers: { 'x-forwarded-for': `${address}, 10.1.1.1` } })
    take(lease)
    lease.done()
  }
}

function requestOf(i: number): PickRequest {
  const number = (i * 7_919) % 5_000
  if (i % 50 === 0) return {}
  return { key: i % 3 === 0 ? number : i % 7 === 0 ? `größe-${number}-🐟` : `user-${number}` }
}

/** Lease i ends when up to 64 more have been taken, how many more being a fixed pattern: loads differ all the time. */
const overlapping: Trace = (service, take) => {
  const open: Lease[] = []
  for (let i = 0; i < PICKS; i++) {
    const lease = leaseOf(service)
    take(lease)
    open.push(lease)
    const most = (i * 2_654_435_761) % 64
    while (open.length > most) open.splice((i * 40_503) % open.length, 1)[0]?.done()
  }
  for (const lease of open) lease.done()
}

/** As above; time passes, each instance has its own latency, and one in 97 calls fails. */
const timed: Trace = (service, take, clock) => {
  const indexes = indexer(service)
  const open: Lease[] = []
  const complete = (lease: Lease | undefined, i: number) => {
    if (lease === undefined) return
    const latencyMs = 5 + ((indexes(lease.instance) * 31 + i * 17) % 211) / 4
    lease.done(i % 97 === 0 ? { error: 'failed', latencyMs } : { status: 200, latencyMs })
  }
  for (let i = 0; i < PICKS; i++) {
    clock.advance((i % 13) / 8)
    const lease = leaseOf(service)
    take(lease)
    open.push(lease)
    const most = (i * 2_654_435_761) % 32
    while (open.length > most) complete(open.splice((i * 40_503) % open.length, 1)[0], i)
  }
  for (const lease of open) lease.done()
}

const POLICIES: Record<string, { options: ServiceOptions; trace: Trace }> = {
  'round-robin': { options: { policy: 'round-robin' }, trace: plain },
  'round-robin-weighted': { options: { policy: 'round-robin', suppliers: ['weighted'] }, trace: plain },
  'smooth-round-robin': { options: { policy: 'smooth-round-robin', suppliers: ['weighted'] }, trace: plain },
  edf: { options: { policy: 'edf', suppliers: ['weighted'] }, trace: plain },
  stride: { options: { policy: 'stride', suppliers: ['weighted'] }, trace: plain },
  random: { options: { policy: 'random' }, trace: plain },
  'random-weighted': { options: { policy: 'random', suppliers: ['weighted'] }, trace: plain },
  'least-request': { options: { policy: 'least-request' }, trace: overlapping },
  'least-request-weighted': { options: { policy: 'least-request', suppliers: ['weighted'] }, trace: overlapping },
  'least-request-envoy': { options: { policy: { type: 'least-request', form: 'envoy' } }, trace: overlapping },
  'least-request-envoy-weighted': {
    options: { policy: { type: 'least-request', form: 'envoy', activeRequestBias: 0.7 }, suppliers: ['weighted'] },
    trace: overlapping,
  },
  'least-connections': { options: { policy: 'least-connections' }, trace: overlapping },
  'least-connections-weighted': {
    options: { policy: 'least-connections', suppliers: ['weighted'] },
    trace: overlapping,
  },
  'peak-ewma': { options: { policy: 'peak-ewma' }, trace: timed },
  'peak-ewma-weighted': { options: { policy: 'peak-ewma', suppliers: ['weighted'] }, trace: timed },
  'source-hash': { options: { policy: 'source-hash' }, trace: addressed },
  'ring-hash': { options: { policy: 'ring-hash' }, trace: keyed },
  'ring-hash-bounded': {
    options: { policy: { type: 'ring-hash', loadFactor: 1.25 }, suppliers: ['weighted'] },
    trace: keyedOverlapping,
  },
  maglev: { options: { policy: 'maglev', suppliers: ['weighted'] }, trace: keyed },
  'maglev-bounded': { options: { policy: { type: 'maglev', loadFactor: 1.25 } }, trace: keyedOverlapping },
  rendezvous: { options: { policy: 'rendezvous' }, trace: keyed },
  'rendezvous-bounded': {
    options: { policy: { type: 'rendezvous', loadFactor: 1.25 }, suppliers: ['weighted'] },
    trace: keyedOverlapping,
  },
  jump: { options: { policy: 'jump' }, trace: keyed },
  'least-response-time': { options: { policy: 'least-response-time' }, trace: timed },
  'least-response-time-weighted': {
    options: { policy: 'least-response-time', suppliers: ['weighted'] },
    trace: timed,
  },
  'dynamic-weight': { options: { policy: 'dynamic-weight' }, trace: timed },
  'dynamic-weight-weighted': { options: { policy: 'dynamic-weight', suppliers: ['weighted'] }, trace: timed },
  'relative-weight': { options: { policy: 'relative-weight' }, trace: timed },
  'relative-weight-weighted': { options: { policy: 'relative-weight', suppliers: ['weighted'] }, trace: timed },
  'best-available': { options: { policy: 'best-available' }, trace: timed },
  'availability-filtering': { options: { policy: { type: 'availability-filtering', activeLimit: 1 } }, trace: timed },
  'zone-avoidance': { options: { instances: zoned, policy: 'zone-avoidance' }, trace: timed },
  'zone-aware': { options: { instances: zoned, policy: { type: 'zone-aware', policy: 'round-robin' } }, trace: timed },
  filtering: {
    options: { instances: zoned, policy: { type: 'filtering', predicates: ['zone-avoidance', 'availability'] } },
    trace: timed,
  },
  'weighted-response-time': {
    options: { policy: { type: 'weighted-response-time', updateMs: 500, windowMs: 5_000 } },
    trace: timed,
  },
  'retry-rule': { options: { policy: { type: 'retry-rule', policy: 'random' } }, trace: plain },
}

function leaseOf(service: Service, request?: PickRequest): Lease {
  const lease = service.pick(request)
  if (lease === undefined) throw new Error('no lease')
  return lease
}

/** FNV-1a over the picked indexes, each as one byte. */
export function digestOf(policy: string): string {
  const { options, trace } = POLICIES[policy] as (typeof POLICIES)[string]
  const clock = handClock()
  const lb = createLoadBalancer({ seed: 42, clock: clock.now, services: { orders: { instances, ...options } } })
  const service = lb.service('orders')
  const indexes = indexer(service)
  let hash = 0x811c9dc5
  let taken = 0
  trace(
    service,
    (lease) => {
      taken++
      hash = Math.imul(hash ^ indexes(lease.instance), 0x01000193)
    },
    clock,
  )
  expect(taken).to.equal(PICKS)
  expect(service.stats().instances.map(({ inFlight }) => inFlight)).to.deep.equal(new Array(INSTANCES).fill(0))
  return (hash >>> 0).toString(16).padStart(8, '0')
}

/** One case a policy, which leaves its digest in `digests`. */
export function digestCases(digests: Record<string, string>): Case[] {
  return Object.keys(POLICIES).map((policy) => ({
    name: `digest: ${policy}, ${PICKS} seeded picks`,
    run() {
      digests[policy] = digestOf(policy)
    },
  }))
}
