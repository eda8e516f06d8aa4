/** A clock that goes back by an hour: what is timed goes on, and waits for no time to come a second time. */

import { describe, expect, it } from 'vitest'
import {
  availabilityFiltering,
  createLoadBalancer,
  dynamicWeight,
  type Policy,
  relativeWeight,
  type ServiceOptions,
  weightedResponseTime,
} from '../../bindings/index.js'
import { PercentilesPublisher } from '../../bindings/policy/response-percentiles.js'
import { claimed } from '../../bindings/runtime/single-flight.js'
import type { BalancedService } from '../../bindings/service/service.js'

const HOUR_MS = 3_600_000
const START_MS = 1e9

function timed(policy: Policy, more: ServiceOptions = {}) {
  let nowMs = START_MS
  const instances = [0, 1, 2].map((i) => ({ host: `h${i}`, port: 80, instanceId: `i${i}` }))
  const service = createLoadBalancer({
    seed: 1,
    clock: () => nowMs,
    services: { s: { instances, policy, ...more } },
  }).service('s') as BalancedService
  return {
    service,
    pass: (ms: number) => {
      nowMs += ms
    },
    /** The share of i0 among `count` calls, one every 10 ms, which fails or answers after so many ms. */
    shareOfFirst(count: number, first: { failed?: boolean; ms?: number } = {}) {
      let own = 0
      for (let i = 0; i < count; i++) {
        nowMs += 10
        const lease = service.pick()
        const isFirst = lease?.instance.instanceId === 'i0'
        if (isFirst) own++
        lease?.done({
          latencyMs: (isFirst ? first.ms : undefined) ?? 10,
          ...(isFirst && first.failed && { error: new Error('it failed') }),
        })
      }
      return own / count
    },
  }
}

describe('after the clock has gone back by an hour', () => {
  it('dynamic weight sees who fails', () => {
    const { shareOfFirst, pass } = timed(dynamicWeight())
    expect(shareOfFirst(3_000)).toBeGreaterThan(0.3)
    pass(-HOUR_MS)
    shareOfFirst(6_000, { failed: true })
    expect(shareOfFirst(1_000, { failed: true })).toBeLessThan(0.05)
    // By the window: what came before it does not count.
    shareOfFirst(12_000)
    expect(shareOfFirst(2_000)).toBeGreaterThan(0.28)
  })

  it('dynamic weight keeps its window when the clock goes back by seconds', () => {
    const { shareOfFirst, pass } = timed(dynamicWeight())
    shareOfFirst(6_000, { failed: true })
    pass(-5_000)
    expect(shareOfFirst(100, { failed: true })).toBeLessThan(0.05)
  })

  it('relative weight sees who fails, and who has come back', () => {
    const { shareOfFirst, pass } = timed(relativeWeight())
    expect(shareOfFirst(2_000)).toBeGreaterThan(0.3)
    pass(-HOUR_MS)
    shareOfFirst(1_500, { failed: true })
    expect(shareOfFirst(1_000, { failed: true })).toBeLessThan(0.05)
    pass(-HOUR_MS)
    shareOfFirst(3_000)
    expect(shareOfFirst(1_000)).toBeGreaterThan(0.28)
  })

  it('relative weight sees who does not answer at all', () => {
    const { service, shareOfFirst, pass } = timed(relativeWeight())
    shareOfFirst(2_000)
    for (let held = false; !held; ) {
      const lease = service.pick()
      held = lease?.instance.instanceId === 'i0'
      if (!held) lease?.done({ latencyMs: 10 })
    }
    pass(-HOUR_MS)
    service.pick()?.done({ latencyMs: 10 })
    pass(5_000)
    expect(shareOfFirst(500)).toBeLessThan(0.1)
  })

  it('weighted response time works its weights out again', () => {
    const { shareOfFirst, pass } = timed(weightedResponseTime())
    shareOfFirst(6_000, { ms: 10 })
    pass(-HOUR_MS)
    shareOfFirst(12_000, { ms: 500 })
    expect(shareOfFirst(1_000, { ms: 500 })).toBeLessThan(0.1)
  })

  it('a breaker that has tripped keeps nobody out for that hour', () => {
    const { service, pass } = timed(availabilityFiltering())
    const open = (id: string) => {
      const ids = Array.from({ length: 30 }, () => {
        const lease = service.pick()
        lease?.done({ cancelled: true })
        return lease?.instance.instanceId
      })
      return ids.includes(id)
    }
    for (let failures = 0; failures < 20; failures++) {
      const lease = service.pick()
      const isFirst = lease?.instance.instanceId === 'i0'
      lease?.done(isFirst ? { error: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) } : { status: 200 })
    }
    expect(open('i0')).toBe(false)
    pass(-HOUR_MS)
    expect(open('i0')).toBe(true)
  })

  it('response percentiles are of periods that follow', () => {
    const publisher = new PercentilesPublisher(100, 1_000, 'keeps', HOUR_MS)
    publisher.add(5, HOUR_MS)
    expect(publisher.at(HOUR_MS + 1_000)[50]).toBe(5)
    publisher.add(7, 0)
    expect(publisher.at(1_000)[50]).toBe(7)
  })

  it('a claim on a request to the registry ends', async () => {
    let nowMs = HOUR_MS
    const flight = claimed(() => nowMs)
    void flight.run(() => new Promise(() => {}))
    expect(flight.busy).toBe(true)
    nowMs = 0
    expect(flight.busy).toBe(false)
  })

  it('a list of a registry grows old', async () => {
    let nowMs = HOUR_MS
    let asked = 0
    const lb = createLoadBalancer({
      clock: () => nowMs,
      discovery: () => [{ host: `h${asked++}`, port: 80 }],
      services: { s: { cache: { ttlMs: 35_000 } } },
    })
    const service = lb.service('s')
    await service.refresh()
    nowMs = 0
    service.pick()?.done()
    await new Promise((resolve) => setImmediate(resolve))
    expect([asked, service.pick()?.instance.host]).toEqual([2, 'h1'])
    lb.close()
  })
})
