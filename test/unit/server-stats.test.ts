/** Ribbon's statistics where a policy of the core asks for them, not the service's options. */

import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type Service, type ServiceOptions } from '../../bindings/index.js'
import { corePolicy, type Engine } from '../../bindings/policy/engine.js'
import { serverStats } from '../../bindings/policy/server-stats.js'

/** The first whose breaker is closed. */
const firstClosed = () => {
  const pick: Engine['pick'] = (core, block, _handle, nowMs, _request, list) =>
    list.instances.findIndex((_, i) => !core.isTripped(block, list.rowAt(i), nowMs))
  return corePolicy('first-closed', {
    timed: true,
    weights: 'draw',
    decayMs: 10_000,
    breakers: true,
    recorders: [serverStats()],
    pick,
    lease: (core, block, handle, nowMs, request, list) =>
      core.acquire(block, handle, pick(core, block, handle, nowMs, request, list)),
  })
}

function make(options: ServiceOptions = {}) {
  const time = { now: 0 }
  const lb = createLoadBalancer({
    clock: () => time.now,
    compat: ['ribbon-percentiles-empty'],
    services: { s: { instances: ['http://a', 'http://b'], policy: firstClosed(), ...options } },
  })
  return { time, service: lb.service('s') }
}

const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
const next = (service: Service) => {
  const lease = service.pick()
  lease?.done({ cancelled: true })
  return lease?.instance.host
}

describe('a policy that goes by server statistics', () => {
  it('has them recorded, with the breakers told', () => {
    const { service } = make()
    const told: unknown[] = []
    service.on('eject', ({ instance, forMs }) => told.push([instance.host, forMs]))
    for (let i = 0; i < 3; i++) service.pick()?.done({ error: refused })
    expect(told).toEqual([['a', 10_000]])
    expect(service.stats().instances[0]?.server).toMatchObject({ requests: 3, tripped: true })
    expect(service.options().serverStats).toEqual({ value: false, from: 'default' })
  })

  it('passes an instance over for 10 s after three failures, 20 s after a fourth', () => {
    const { service, time } = make()
    const open = service.pick()
    for (let i = 0; i < 3; i++) service.pick()?.done({ error: refused })
    const seen = [next(service)]
    for (time.now of [9_999, 10_000]) seen.push(next(service))
    open?.done({ error: refused })
    for (time.now of [29_999, 30_000]) seen.push(next(service))
    expect(seen.join('')).toBe('bbaba')
  })

  it('goes by the service’s settings, which are its options', () => {
    const { service, time } = make({
      serverStats: { connectionFailureThreshold: 1, maxTripMs: 500, percentiles: { samples: 2, periodMs: 10 } },
    })
    for (const latencyMs of [9, 1, 3]) service.pick()?.done({ latencyMs })
    service.pick()?.done({ error: refused, latencyMs: 1 })
    expect(service.stats().instances[0]?.server).toMatchObject({ tripped: true, trippedForMs: 500 })
    time.now = 10
    expect(service.stats().instances[0]?.server?.percentilesMs).toMatchObject({ 10: 1.4, 99: 3 })
    expect(service.options().serverStats).toMatchObject({
      value: { connectionFailureThreshold: 1, tripFactorMs: 10_000, percentiles: { samples: 2, periodMs: 10 } },
      from: 'service',
    })
  })

  it('merges the balancer’s settings, also under true', () => {
    const lb = createLoadBalancer({
      defaults: { serverStats: { maxTripMs: 5, activeExpiryMs: 7 } },
      services: {
        on: { instances: ['http://a'], serverStats: true },
        own: { instances: ['http://a'], serverStats: { maxTripMs: 6 } },
        off: { instances: ['http://a'], serverStats: false },
      },
    })
    const settings = (['on', 'own', 'off'] as const).map((id) => lb.service(id).options().serverStats?.value)
    expect(settings).toMatchObject([{ maxTripMs: 5, activeExpiryMs: 7 }, { maxTripMs: 6, activeExpiryMs: 7 }, false])
  })
})
