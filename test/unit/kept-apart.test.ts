/** What one pick must not do to another: by a place they share, by what it leaves behind, by memory that it gave back. */

import { describe, expect, it } from 'vitest'
import { ORDER_BLOCK, ORDER_INTERLEAVED, ORDER_WEIGHTED } from '../../assembly/layout.js'
import { coreOf } from '../../bindings/core/core.js'
import type { CoreExports, Pointer } from '../../bindings/core/exports.js'
import {
  type Candidates,
  createLoadBalancer,
  edf,
  hint,
  jump,
  type Lease,
  maglev,
  type PickRequest,
  type Policy,
  rendezvous,
  ringHash,
  roundRobin,
  type ServiceInstance,
  type ServiceOptions,
  smoothRoundRobin,
  stride,
  weighted,
} from '../../bindings/index.js'
import type { BalancedService } from '../../bindings/service/service.js'
import { listOf, membersOf } from './core-lists.js'
import { CORES } from './cores.js'

const instances = (count: number, metadata: (i: number) => Record<string, string> = () => ({})) =>
  Array.from({ length: count }, (_, i) => ({ instanceId: `i${i}`, host: `h${i}`, port: 80, metadata: metadata(i) }))

function serviceWith(options: ServiceOptions): BalancedService {
  return createLoadBalancer({ seed: 1, clock: () => 0, services: { s: options } }).service('s') as BalancedService
}

function pick(service: BalancedService, request?: PickRequest): ServiceInstance {
  const lease = service.pick(request) as Lease
  lease.done()
  return lease.instance
}

const WEIGHTED: [string, () => Policy, 'interleaved' | 'block'][] = [
  ['round robin, interleaved', roundRobin, 'interleaved'],
  ['round robin, in blocks', roundRobin, 'block'],
  ['stride', stride, 'interleaved'],
]

describe('a list goes on by itself', () => {
  it.each(WEIGHTED)('%s: retries take no first try from anybody', (_, policy, order) => {
    const service = serviceWith({
      instances: instances(4, (i) => ({ weight: `${4 - i}` })),
      policy: policy(),
      suppliers: [weighted({ order })],
    })
    const first = [0, 0, 0, 0]
    for (let i = 0; i < 2000; i++) {
      const tried = pick(service)
      ;(first[Number(tried.instanceId.slice(1))] as number)++
      if (tried.instanceId === 'i0') pick(service, { previous: [tried] })
    }
    // 200 cycles.
    expect(first).toEqual([800, 600, 400, 200])
  })

  it.each(WEIGHTED)('%s: hints by turns leave each its shares', (_, policy, order) => {
    const weights = [4, 3, 2, 1, 3, 2, 1]
    const service = serviceWith({
      instances: instances(7, (i) => ({ weight: `${weights[i]}`, hint: i < 4 ? 'a' : 'b' })),
      policy: policy(),
      suppliers: [weighted({ order }), hint()],
    })
    const counts = weights.map(() => 0)
    for (let i = 0; i < 1200; i++) {
      const { instanceId } = pick(service, { hint: i % 2 ? 'b' : 'a' })
      ;(counts[Number(instanceId.slice(1))] as number)++
    }
    expect(counts).toEqual([240, 180, 120, 60, 300, 200, 100])
  })

  it.each([3, 4, 5])('plain round robin over %i: first tries and those of retries are even', (count) => {
    const service = serviceWith({ instances: instances(count), policy: roundRobin() })
    const [first, again] = [new Array(count).fill(0), new Array(count).fill(0)]
    const rounds = count * (count - 1) * 10
    for (let i = 0; i < rounds; i++) {
      const tried = pick(service)
      first[Number(tried.instanceId.slice(1))]++
      if (tried.instanceId !== 'i0') continue
      again[Number(pick(service, { previous: [tried] }).instanceId.slice(1))]++
    }
    expect(first).toEqual(new Array(count).fill(rounds / count))
    expect(again).toEqual([0, ...new Array(count - 1).fill(10)])
  })
})

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()
  const { exports } = core

  const listOver = (block: Pointer, order: number) => listOf(core, block, [0, 1, 2], order)
  const PICKS: [string, number, number[], keyof CoreExports & `pick${string}`][] = [
    ['in turn', ORDER_INTERLEAVED, [1, 1, 1], 'pickRoundRobin'],
    ['interleaved', ORDER_INTERLEAVED, [3, 2, 1], 'pickRoundRobin'],
    ['in blocks', ORDER_BLOCK, [3, 2, 1], 'pickRoundRobin'],
    ['by strides', ORDER_WEIGHTED, [3, 2, 1], 'pickStride'],
  ]

  it.each(PICKS)(
    '%s: a new list goes on after the last pick, one that forgot its place too',
    (_, order, weights, by) => {
      const draw = exports[by] as (block: Pointer, list: Pointer) => number
      const sequenceOf = (each: (block: Pointer, list: Pointer) => Pointer) => {
        const { block } = membersOf(core, weights)
        exports.seedBlock(block, 1, 7)
        let list = listOver(block, order)
        return Array.from({ length: 30 }, () => {
          list = each(block, list)
          return draw(block, list)
        })
      }
      const undisturbed = sequenceOf((_, list) => list)
      const refresh = (block: Pointer, list: Pointer) => {
        exports.freeList(list)
        return listOver(block, order)
      }
      const forget = (_: Pointer, list: Pointer) => {
        exports.forgetPlace(list)
        return list
      }
      expect(sequenceOf(refresh)).toEqual(undisturbed)
      expect(sequenceOf(forget)).toEqual(undisturbed)
    },
  )

  it('in turn: goes on where 31 bits end', () => {
    const { block } = membersOf(core, [1, 1, 1])
    exports.startAt(block, 2 ** 31 - 3)
    const list = listOver(block, ORDER_INTERLEAVED)
    // 2^31 − 2, 2^31 − 1, 0, 1, 2 modulo 3.
    expect(Array.from({ length: 5 }, () => exports.pickRoundRobin(block, list))).toEqual([0, 1, 0, 1, 2])
  })

  it('a key that there is no memory for leaves the room for others as it is', () => {
    const before = exports.keyBuffer(300)
    // wasm2js may have none to refuse it with.
    try {
      exports.keyBuffer(2 ** 31 - 1)
    } catch {}
    const after = exports.keyBuffer(300)
    const taken = exports.allocate(300)
    expect(after === before || after !== taken).toBe(true)
    expect(taken).not.toBe(after)
  })
})

const KEYED: [string, (options?: { key: (request: PickRequest) => string }) => Policy][] = [
  ['ring-hash', ringHash],
  ['maglev', maglev],
  ['rendezvous', rendezvous],
  ['jump', jump],
]

describe.each(KEYED)('%s', (_, policy) => {
  it('plans over as many as there are, each once', () => {
    const service = serviceWith({ instances: instances(150), policy: policy() })
    const seen: string[] = []
    for (const lease of service.plan({ key: 'k' })) {
      seen.push(lease.instance.instanceId)
      lease.done()
      if (seen.length > 150) break
    }
    expect(seen).toHaveLength(150)
    expect(new Set(seen).size).toBe(150)
  })

  it('what a call tried counts for as many as there are, whatever else it names', () => {
    const service = serviceWith({ instances: instances(70), policy: policy() })
    const gone = instances(100).map((instance) => ({ ...instance, instanceId: `gone-${instance.instanceId}` }))
    const tried = service.instances().slice(1)
    expect(pick(service, { key: 'k', previous: [...gone, ...tried] as ServiceInstance[] }).instanceId).toBe('i0')
  })

  it('many picks at once pass over what was tried, and the next pick does not', () => {
    const service = serviceWith({ instances: instances(5), policy: policy() })
    const home = pick(service, { key: 'k' })
    const next = pick(service, { key: 'k', previous: [home] })
    const out = new Int32Array(2)
    expect(service.pickMany(out, { key: 'k', previous: [home] })).toBe(2)
    expect([...out].map((at) => service.instances()[at])).toEqual([next, next])
    expect(pick(service, { key: 'k' })).toBe(home)
  })

  it('a retry goes to the same instance whether it is traced or not', () => {
    const seen = [0, 1].map((sample) => {
      const service = serviceWith({ instances: instances(20), policy: policy(), trace: { sample } })
      return Array.from({ length: 60 }, (_, i) => {
        const key = `k${i}`
        return pick(service, { key, previous: [pick(service, { key })] }).instanceId
      })
    })
    expect(seen[1]).toEqual(seen[0])
  })

  it('a key function that picks elsewhere leaves the retry what it is', () => {
    const other = serviceWith({ instances: instances(5), policy: policy() })
    const key = (request: PickRequest) => {
      pick(other, { key: 'z', previous: [other.instances()[0] as ServiceInstance] })
      return request.key as string
    }
    const service = serviceWith({ instances: instances(5), policy: policy({ key }) })
    for (let i = 0; i < 40; i++) {
      const home = pick(service, { key: `k${i}` })
      expect(pick(service, { key: `k${i}`, previous: [home] })).not.toBe(home)
    }
  })

  it('what is no finite number is no key, and one of more than 2^20 characters a mistake', () => {
    const service = serviceWith({ instances: instances(10), policy: policy() })
    const ids = new Set(Array.from({ length: 100 }, () => pick(service, { key: Number.NaN }).instanceId))
    expect(ids.size).toBeGreaterThan(5)
    const tooLong = expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.stringMatching(/2000000 char/) })
    expect(() => service.pick({ key: 'a'.repeat(2_000_000) })).toThrow(tooLong)
    expect(pick(service, { key: 'k' })).toBe(pick(service, { key: 'k' }))
  })
})

describe('memory that was given back', () => {
  it.each([smoothRoundRobin, edf])(
    '%o: a service that is closed in the midst of a retry frees its block last',
    (policy) => {
      let armed = false
      const service: BalancedService = serviceWith({
        instances: instances(40, (i) => ({ weight: `${1 + i}` })),
        policy: policy(),
        suppliers: [
          weighted(),
          {
            name: 'closing',
            filter(list) {
              if (armed) void service.close()
              return list
            },
          },
        ],
      })
      const tried = pick(service)
      const { exports } = coreOf()
      const { freeList, freeBlock } = exports
      const freed: string[] = []
      exports.freeList = (list) => {
        freed.push('list')
        freeList(list)
      }
      exports.freeBlock = (block) => {
        freed.push('block')
        freeBlock(block)
      }
      try {
        armed = true
        service.pick({ previous: [tried] })?.done()
      } finally {
        Object.assign(exports, { freeList, freeBlock })
      }
      expect(freed.length).toBeGreaterThan(2)
      expect(freed.indexOf('block')).toBe(freed.length - 1)
    },
  )

  it('candidates that a policy kept are refused', () => {
    const inner = smoothRoundRobin()
    let kept: Candidates | undefined
    const service = serviceWith({
      instances: instances(40, (i) => ({ weight: `${1 + i}` })),
      suppliers: [weighted()],
      policy: {
        name: 'keeping',
        pick(candidates, context) {
          kept ??= candidates
          return inner.pick(kept, context)
        },
      },
    })
    pick(service)
    service.update(instances(30))
    const refused = expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.stringMatching(/kept beyond/) })
    expect(() => service.pick()).toThrow(refused)
  })
})
