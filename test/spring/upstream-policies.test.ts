/** Round robin and random. */

import { describe, expect, it } from 'vitest'
import {
  createLoadBalancer,
  type Policy,
  random,
  roundRobin,
  type ServiceInstance,
  type Supplier,
} from '../../bindings/index.js'
import { hosts, make, picks } from './kit.js'

const digits = hosts('0', '1', '2', '3', '4', '5', '6', '7', '8', '9')

/** A supplier that keeps everything and whom it was told of. */
function listening(name = 'listening') {
  const told: string[] = []
  const supplier: Supplier = {
    name,
    filter: (list) => list,
    selected: ({ host }: ServiceInstance) => void told.push(host),
  }
  return { told, supplier }
}

describe('LoadBalancerTests', () => {
  it('round robin from −1 takes a list in its order, and begins again', () => {
    const { service } = make({ instances: hosts('a', 'c', 'b') })
    expect(picks(service, 7)).toBe('acbacba')
  })

  it('an unknown service has no instance, where a registry says so', async () => {
    const lb = createLoadBalancer({ discovery: async () => [] })
    expect(await lb.choose('unknown')).toBeUndefined()
    expect(lb.pick('unknown')).toBeUndefined()
  })

  it('an unknown service is an error, where there is nobody to ask', async () => {
    const { lb } = make({ instances: hosts('a') })
    expect(() => lb.pick('unknown')).toThrow(expect.objectContaining({ code: 'EVENKEEL_UNKNOWN_SERVICE' }))
    await expect(lb.choose('unknown')).rejects.toMatchObject({ serviceId: 'unknown' })
  })

  it('a static list is served as it is, without anything asked', () => {
    const lb = createLoadBalancer({ services: { s: hosts('a', 'b') } })
    expect(lb.service('s').instances()).toMatchObject([
      { instanceId: 'a', serviceId: 's', host: 'a', port: 8080, secure: false, metadata: {} },
      { instanceId: 'b', serviceId: 's', host: 'b', port: 8080, secure: false, metadata: {} },
    ])
    expect(lb.service('s').state).toBe('ready')
  })

  it('a policy of one’s own can read the hint', () => {
    const byHint: Policy = {
      name: 'by-hint',
      pick(list, { request }) {
        for (let i = 0; i < list.length; i++) if (list.instance(i).host === request.hint) return i
        return -1
      },
    }
    const { service, lb } = make({ instances: hosts('a', 'b', 'c'), policy: byHint })
    expect(picks(service, 1, { hint: 'b' })).toBe('b')
    expect(lb.with({ hint: 'c' }).pick('s')?.instance.host).toBe('c')
    expect(picks(service, 1)).toBe('-')
  })

  it('suppliers are told of each pick, once', () => {
    const { told, supplier } = listening()
    const { service } = make({ instances: hosts('a', 'b'), suppliers: [supplier] })
    expect(picks(service, 3)).toBe('aba')
    expect(told).toEqual(['a', 'b', 'a'])
  })
})

describe('RandomLoadBalancerTests', () => {
  it('gives one of the instances, each as often as the others', () => {
    const { service } = make({ instances: digits, policy: random() })
    const counts = new Map<string, number>()
    for (const host of picks(service, 10_000)) counts.set(host, (counts.get(host) ?? 0) + 1)
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - 1_000) ** 2 / 1_000, 0)
    expect(counts.size).toBe(10)
    // 9 degrees of freedom, p = 0.001.
    expect(chiSquare).toBeLessThan(27.88)
  })

  it('gives none if there are no instances', () => {
    expect(make({ instances: [], policy: random() }).service.pick()).toBeUndefined()
  })

  it('gives none if the suppliers leave none', () => {
    const nobody: Supplier = { name: 'nobody', filter: () => [] }
    expect(make({ instances: digits, policy: 'random', suppliers: [nobody] }).service.pick()).toBeUndefined()
  })

  it('tells suppliers what it gave, and nothing if it gave none', () => {
    const { told, supplier } = listening()
    const { service } = make({ instances: hosts('a'), policy: 'random', suppliers: [supplier] })
    expect(picks(service, 2)).toBe('aa')
    service.update([])
    expect([service.pick(), told]).toEqual([undefined, ['a', 'a']])
  })
})

describe('RoundRobinLoadBalancerTests', () => {
  const MAX = 2 ** 31 - 1
  it.each([
    [0, '123'],
    [-1, '012'],
    [MAX, '012'],
    [-(2 ** 31), '123'],
    [MAX - 1, '701'],
  ])('begun at %i, goes over ten instances in the order %s', (start, expected) => {
    const { service } = make({ instances: digits, policy: roundRobin({ start }) })
    expect(picks(service, 3)).toBe(expected)
  })

  it('does not move for a single instance', () => {
    const { service } = make({ instances: hosts('a', 'b', 'c') })
    expect(picks(service, 1)).toBe('a')
    service.update(hosts('z'))
    expect(picks(service, 5)).toBe('zzzzz')
    service.update(hosts('a', 'b', 'c'))
    expect(picks(service, 3)).toBe('bca')
  })

  it('tells every supplier of the chain, from the outermost to the innermost', () => {
    const order: string[] = []
    const named = (name: string): Supplier => ({
      name,
      filter: (list) => list,
      selected: ({ host }) => void order.push(`${name}:${host}`),
    })
    const { service } = make({
      instances: hosts('a', 'b'),
      suppliers: [named('inner'), 'zone-preference', 'hint', named('outer'), 'weighted'],
    })
    picks(service, 1)
    expect(order).toEqual(['outer:a', 'inner:a'])
  })
})
