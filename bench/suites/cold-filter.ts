/**
 * @module Keeping the instances of one zone, of 10 000, when no memo knows the answer: as a bitset, as a list of rows, as
 * the list of objects that the rest of the chain works with; next to `Array.filter` over the same objects.
 */

import { createLoadBalancer, type Service, type ServiceInstance } from 'evenkeel'
import { LIST_LENGTH } from '../../assembly/layout.js'
import type { CoreExports } from '../../bindings/core/exports.js'
import { middle, ratio } from '../harness/median.js'
import { createRawService, instantiateCore } from '../harness/raw-core.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { count, times, us } from '../harness/text.js'
import { scattered } from '../peers/scattered.js'

const INSTANCES = 10_000
const ZONES = ['shanghai', 'beijing', 'shenzhen'] as const
/** As many answers as a stage remembers. */
const MEMOISED = 64
const OPS = 20

const zoneOf = (i: number) => ZONES[scattered(i, ZONES.length)] as string

export const coldFilter: Suite = {
  cases: [{ name: 'zone' }],
  effort: { rounds: 60, calls: 3, warmUpMs: 100 },
  async measure(_, effort) {
    const service = createLoadBalancer({
      seed: 42,
      services: {
        bench: {
          // The hint is what a request can choose; its values are the zones.
          instances: Array.from({ length: INSTANCES }, (_, i) => ({
            host: `10.0.${i >> 8}.${i & 255}`,
            zone: zoneOf(i),
            hint: zoneOf(i),
          })),
          suppliers: ['hint'],
        },
      },
    }).service('bench')
    const contestants = [byArrayFilter(service.instances()), ...byCore(instantiateCore()), throughChain(service)]
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => [
    faster(found, 'bitset', 'matchBits', 40),
    faster(found, 'row list', 'cutMatching', 20),
    faster(found, 'JS array', 'a service whose memo misses', 5),
  ],
}

function byArrayFilter(instances: readonly ServiceInstance[]): Contestant {
  return {
    name: 'Array.filter',
    ops: OPS,
    run() {
      let sum = 0
      for (let op = 0; op < OPS; op++) {
        const zone = ZONES[op % ZONES.length]
        sum += instances.filter((instance) => instance.metadata.zone === zone).length
      }
      return sum
    },
  }
}

function byCore(core: CoreExports): Contestant[] {
  const { list } = createRawService(core, INSTANCES)
  const column = core.createColumn(INSTANCES)
  const bits = core.allocate(INSTANCES / 8 + 4)
  const values = new Int32Array(core.memory.buffer, column, INSTANCES)
  for (let i = 0; i < INSTANCES; i++) values[i] = 1 + ZONES.indexOf(zoneOf(i) as (typeof ZONES)[number])
  const ops = OPS * 20
  return [
    {
      name: 'bitset',
      ops,
      run() {
        let sum = 0
        for (let op = 0; op < ops; op++) sum += core.matchBits(column, INSTANCES, 1 + (op % ZONES.length), bits)
        return sum
      },
    },
    {
      name: 'row list',
      ops,
      run() {
        let sum = 0
        const lengths = new Int32Array(core.memory.buffer)
        for (let op = 0; op < ops; op++) {
          const cut = core.cutMatching(list, column, 1 + (op % ZONES.length))
          sum += lengths[(cut + LIST_LENGTH) >>> 2] as number
          core.freeList(cut)
        }
        return sum
      },
    },
  ]
}

/**
 * A pick whose hint the stage has forgotten: the core cuts, and the bindings make the array of objects. Before it, as many
 * other hints as the stage remembers are asked for; no instance has them, so they cost a scan each and are not timed.
 */
function throughChain(service: Service): Contestant {
  const others = Array.from({ length: MEMOISED }, (_, i) => ({ hint: `none has ${i}` }))
  let turn = 0
  return {
    name: 'JS array',
    ops: 1,
    before() {
      for (const request of others) service.pick(request)?.done()
    },
    run() {
      const hint = ZONES[turn++ % ZONES.length] as string
      const lease = service.pick({ hint })
      lease?.done()
      return lease?.attempt ?? 0
    },
  }
}

function faster(found: Found, name: string, how: string, least: number): Judgement {
  const { timings } = caseOf(found, 'zone')
  const value = ratio(timings, 'Array.filter', name)
  return {
    what: `filter of ${count(INSTANCES)} by zone, cold, as a ${name} (${how}), against Array.filter`,
    budget: `≥ ${least} × faster`,
    measured: `${times(value)} (${us(middle(timings, name))} against ${us(middle(timings, 'Array.filter'))})`,
    met: value >= least,
  }
}
