/** @module 100 000 seeded picks a policy, as one number: the same on every runtime. */

import { expect } from 'chai'
import { createLoadBalancer, type InstanceInit, type Lease, type Service, type ServiceOptions } from 'evenkeel'
import type { Case } from './case.js'
import { handClock, indexer } from './services.js'

const PICKS = 100_000
const INSTANCES = 23

const instances: InstanceInit[] = Array.from({ length: INSTANCES }, (_, i) => ({
  url: `http://10.0.0.${i + 1}:8080`,
  weight: 1 + ((i * 7) % 5) + (i === 11 ? 1_000 : 0) + (i === 4 ? 0.25 : 0),
}))

type Trace = (service: Service, take: (lease: Lease) => void, clock: ReturnType<typeof handClock>) => void

/** Every lease ends at once. */
const plain: Trace = (service, take) => {
  for (let i = 0; i < PICKS; i++) {
    const lease = leaseOf(service)
    take(lease)
    lease.done()
  }
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
  random: { options: { policy: 'random' }, trace: plain },
  'random-weighted': { options: { policy: 'random', suppliers: ['weighted'] }, trace: plain },
  'least-request': { options: { policy: 'least-request' }, trace: overlapping },
  'least-request-weighted': { options: { policy: 'least-request', suppliers: ['weighted'] }, trace: overlapping },
  'peak-ewma': { options: { policy: 'peak-ewma' }, trace: timed },
  'peak-ewma-weighted': { options: { policy: 'peak-ewma', suppliers: ['weighted'] }, trace: timed },
}

function leaseOf(service: Service): Lease {
  const lease = service.pick()
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
