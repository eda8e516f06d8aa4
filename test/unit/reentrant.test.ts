/** Code of the user's that runs in the midst of a pick, and changes the service that it was called by. */

import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type Lease, type LoadBalancerOptions, type Service } from '../../bindings/index.js'

const list = (count: number) => Array.from({ length: count }, (_, i) => `http://h${i}:1`)
const others = ['http://o1:1', 'http://o2:1']

/** A service `x` whose list is asked for, grows with `count` and is due again at 15 ms. */
function asked(options: LoadBalancerOptions['defaults'] = {}) {
  const state = { now: 0, count: 2, fails: false }
  const lb = createLoadBalancer({
    seed: 1,
    clock: () => state.now,
    defaults: { cache: { ttlMs: 10, staleMs: 10 }, ...options },
    discovery: {
      name: 'registry',
      get(serviceId) {
        if (serviceId !== 'x') return others
        if (state.fails) throw new Error('down')
        return list(state.count)
      },
    },
  })
  const service = lb.service('x')
  service.pick()?.done()
  /** Removes the service, and lets another one have what it held in the core. */
  const replace = () => {
    void lb.remove('x')
    const other = lb.service('other')
    other.pick()?.done()
    return other
  }
  return { state, lb, service, replace }
}

const closed = expect.objectContaining({ code: 'EVENKEEL_CLOSED' })
const inFlight = (service: Service) => service.stats().instances.map((instance) => instance.inFlight)

describe('a service that is removed while it is asked for a pick', () => {
  it.each(['pick', 'pickMany'] as const)('by a listener of its list: %s says so, and nobody else is hit', (method) => {
    const { state, service, replace } = asked()
    let other: Service | undefined
    service.on('change', () => (other = replace()))
    Object.assign(state, { now: 15, count: 3 })
    const act = {
      pick: () => service.pick(),
      pickMany: () => service.pickMany(new Int32Array(4)),
    }
    expect(act[method]).toThrow(closed)
    expect(inFlight(other as Service)).toEqual([0, 0])
  })

  it('by a listener of its failure', () => {
    const { state, service, replace } = asked()
    let other: Service | undefined
    service.on('discoveryError', () => (other = replace()))
    Object.assign(state, { now: 15, fails: true })
    expect(() => service.pick()).toThrow(closed)
    expect(inFlight(other as Service)).toEqual([0, 0])
  })

  it('by whoever hears that a drain has ended', () => {
    const { state, service, replace } = asked()
    service.drain('h0:1', { forMs: 5 })
    service.on('restore', () => void replace())
    state.now = 6
    expect(() => service.pick()).toThrow(closed)
  })

  it.each(['pick', 'stats'] as const)('by the policy that hears of a lease that timed out, in %s', (method) => {
    let replaceNow = () => {}
    const { state, service, replace } = asked({
      leaseTimeoutMs: 5,
      policy: { name: 'own', pick: () => 0, done: () => replaceNow() },
    })
    service.pick()
    replaceNow = () => {
      replaceNow = () => {}
      replace()
    }
    state.now = 6
    expect(() => service[method]()).toThrow(closed)
  })
})

it('a supplier that replaces the list and picks from it leaves no trace of the old one', () => {
  let armed = false
  const lb = createLoadBalancer({
    seed: 1,
    services: {
      x: {
        instances: list(3),
        suppliers: [
          {
            name: 'own',
            memoKey: (request) => String(request.key),
            filter(instances) {
              if (armed) {
                armed = false
                service.update(['http://n1:1', 'http://n2:1', 'http://n3:1'])
                service.pick({ key: 'inner' })
              }
              return instances.slice(0, 2)
            },
          },
        ],
      },
    },
  })
  const service = lb.service('x')
  armed = true
  service.pick({ key: 'outer' })
  const reached = Array.from({ length: 4 }, () => service.pick({ key: 'outer' })?.instance.host)
  expect(new Set(reached)).toEqual(new Set(['n1', 'n2']))
})

it('a supplier that picks while it is asked for its key does not change what was asked for', () => {
  let once = true
  const lb = createLoadBalancer({
    services: {
      x: {
        instances: ['v1', 'v2'].map((hint) => ({ url: `http://${hint}:1`, hint })),
        suppliers: [
          'hint',
          {
            name: 'own',
            memoKey() {
              if (once) {
                once = false
                lb.pick('x', { hint: 'v2' })
              }
              return 'key'
            },
            filter: (instances) => instances,
          },
        ],
      },
    },
  })
  expect(lb.pick('x', { hint: 'v1' })?.instance.host).toBe('v1')
})

it('a fallback is told although a supplier behind it picks for itself', () => {
  let once = true
  const lb = createLoadBalancer({
    services: {
      x: {
        instances: list(2),
        suppliers: [
          'hint',
          {
            name: 'own',
            filter(instances) {
              if (once) {
                once = false
                lb.pick('x')
              }
              return instances
            },
          },
        ],
      },
    },
  })
  const told: string[] = []
  lb.service('x').on('fallback', ({ supplier }) => told.push(supplier))
  lb.pick('x', { hint: 'nobody' })
  expect(told).toEqual(['hint'])
})

it('a traced pick tells of the list that it was made from', () => {
  const lb = createLoadBalancer({
    services: {
      x: {
        instances: list(5),
        trace: { sample: 1 },
        suppliers: [
          {
            name: 'own',
            filter(instances) {
              if (instances.length === 5) lb.service('x').update(list(2))
              return instances
            },
          },
        ],
      },
    },
  })
  const lease = lb.pick('x') as Lease
  lease.done()
  expect(
    lb
      .service('x')
      .recent()[0]
      ?.layers.map(({ in: before }) => before),
  ).toEqual([5, 5])
})
