/** @module Which instance a policy picks. Golden sequences come from SCLB itself, run on the JDK. */

import { expect } from 'chai'
import {
  dynamicWeight,
  edf,
  leastConnections,
  leastRequest,
  leastResponseTime,
  peakEwma,
  relativeWeight,
  roundRobin,
  type Service,
  smoothRoundRobin,
  stride,
  weighted,
} from 'evenkeel'
import golden from '../vectors/golden.json'
import type { Case } from './case.js'
import { addresses, counts, handClock, indexer, picks, serviceWith, weighing } from './services.js'

/** Five standard deviations of a binomial count: a seed that fails here is a defect, not bad luck. */
function expectShares(counted: readonly number[], weights: readonly number[]): void {
  const total = counted.reduce((a, b) => a + b, 0)
  const sum = weights.reduce((a, b) => a + b, 0)
  counted.forEach((count, i) => {
    const share = (weights[i] as number) / sum
    expect(count, `instance ${i}`).to.be.closeTo(total * share, 5 * Math.sqrt(total * share * (1 - share)))
  })
}

/** Leases that are kept: `held[i]` of them on instance i, reached by excluding all others. */
function hold(service: Service, held: readonly number[]): void {
  const all = service.instances()
  held.forEach((count, index) => {
    const previous = all.filter((_, i) => i !== index)
    for (let n = 0; n < count; n++) {
      const instance = service.pick({ previous })?.instance
      if (instance !== all[index]) throw new Error(`no lease on instance ${index}`)
    }
  })
}

const roundRobins: Case[] = golden.roundRobin.map(({ seed, n, indexes }) => ({
  name: `round-robin: SCLB's sequence over ${n} from position ${seed}`,
  run() {
    const service = serviceWith({ instances: addresses(n), policy: roundRobin({ start: seed }) })
    expect(picks(service, indexes.length)).to.deep.equal(indexes)
  },
}))

const interleaved: Case[] = golden.weighted.map(({ weights, sequence }) => ({
  name: `round-robin, weighted: SCLB's interleaved cycle of ${weights.join(', ')}`,
  run() {
    const service = serviceWith({
      instances: weighing(weights),
      suppliers: ['weighted'],
      policy: roundRobin({ start: -1 }),
    })
    const twoCycles = [...sequence, ...sequence]
    expect(picks(service, twoCycles.length)).to.deep.equal(twoCycles)
  },
}))

/** nginx, Envoy and grpc-go, each from its own source. */
const rotations: Case[] = (
  [
    ['smooth-round-robin', smoothRoundRobin({ start: -1 }), 'aabacaa', 'abacba'],
    ['edf', edf({ start: -1 }), 'aaaabca', 'abacba'],
    ['stride', stride({ start: -1 }), 'acaabaa', 'abcaab'],
  ] as const
).flatMap(([name, policy, first, second]) => [
  {
    name: `${name}: weights 5, 1, 1 give ${first}, 3, 2, 1 give ${second}`,
    run() {
      for (const [weights, expected] of [
        [[5, 1, 1], first],
        [[3, 2, 1], second],
      ] as const) {
        const service = serviceWith({ instances: weighing(weights), suppliers: ['weighted'], policy })
        const letters = picks(service, expected.length).map((index) => 'abc'[index])
        expect(letters.join('')).to.equal(expected)
      }
    },
  },
  {
    name: `${name}: an update between any two picks changes no share`,
    run() {
      const service = serviceWith({ instances: weighing([3, 1]), suppliers: ['weighted'], policy: name })
      const taken = Array.from({ length: 400 }, (_, i) => {
        const [index] = picks(service, 1)
        service.update(addresses(2).map((url, at) => ({ url, weight: 3 - 2 * at, metadata: { round: `${i}` } })))
        return index as number
      })
      expect(counts(taken, 2)).to.deep.equal([300, 100])
    },
  },
  {
    name: `${name}: candidates of equal weight in turn, and drained ones never`,
    run() {
      const equal = serviceWith({ instances: weighing([2, 2, 2]), suppliers: ['weighted'], policy })
      expect(picks(equal, 6)).to.deep.equal([0, 1, 2, 0, 1, 2])
      const drained = serviceWith({ instances: weighing([3, 0, 1]), suppliers: ['weighted'], policy: name })
      expect(counts(picks(drained, 400), 3)).to.deep.equal([300, 0, 100])
      expect(picks(serviceWith({ instances: addresses(1), policy: name }), 2)).to.deep.equal([0, 0])
    },
  },
  {
    name: `${name}: a retry goes elsewhere, and the rotation goes on`,
    run() {
      const service = serviceWith({ instances: weighing([5, 3, 2]), suppliers: ['weighted'], policy: name })
      const indexes = indexer(service)
      const taken = Array.from({ length: 500 }, () => {
        const lease = service.pick()
        if (lease === undefined) throw new Error('no lease')
        const again = service.pick({ previous: [lease.instance] })
        expect(again?.instance).not.to.equal(lease.instance)
        lease.done()
        again?.done()
        return indexes(lease.instance)
      })
      if (name !== 'stride') expect(counts(taken, 3)).to.deep.equal([250, 150, 100])
    },
  },
])

const others: Case[] = [
  {
    name: 'round-robin: starts at a place in [0, 1000) that the seed decides',
    run() {
      const first = (seed: number) => picks(serviceWith({ instances: addresses(2_000) }, { seed }), 1)[0] as number
      const starts = Array.from({ length: 50 }, (_, seed) => first(seed))
      expect(new Set(starts).size).to.be.greaterThan(40)
      expect(Math.max(...starts)).to.be.at.most(1_000)
      expect(Array.from({ length: 50 }, (_, seed) => first(seed))).to.deep.equal(starts)
    },
  },
  {
    name: 'round-robin: a refreshed list does not reset the rotation',
    run() {
      const list = addresses(4)
      const service = serviceWith({ instances: list, policy: roundRobin({ start: -1 }) })
      expect(picks(service, 2)).to.deep.equal([0, 1])
      service.update([...list, 'http://10.9.9.9:8080'])
      expect(picks(service, 4)).to.deep.equal([2, 3, 4, 0])
    },
  },
  {
    name: 'round-robin: a single candidate is picked every time',
    run() {
      expect(picks(serviceWith({ instances: addresses(1) }), 3)).to.deep.equal([0, 0, 0])
    },
  },
  {
    name: 'round-robin, weighted: order block gives A A A B B C',
    run() {
      const service = serviceWith({
        instances: weighing([3, 2, 1]),
        suppliers: [weighted({ order: 'block' })],
        policy: roundRobin({ start: -1 }),
      })
      expect(picks(service, 12)).to.deep.equal([0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 2])
    },
  },
  {
    name: 'round-robin, weighted: exact shares over one cycle from any start, weights as a function',
    run() {
      const weights = [7, 1, 4, 2]
      const service = serviceWith({
        instances: addresses(4),
        suppliers: [weighted({ weight: ({ host }) => weights[Number(host.split('.')[3])] as number })],
      })
      expect(counts(picks(service, 14), 4)).to.deep.equal(weights)
    },
  },
  {
    name: 'round-robin, weighted: a weight of 2147483647 beside 1 costs no more',
    run() {
      const service = serviceWith({
        instances: weighing([1, 2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1]),
        suppliers: ['weighted'],
        policy: roundRobin({ start: -1 }),
      })
      expect(picks(service, 10)).to.deep.equal([0, 1, 2, 3, 1, 2, 3, 1, 2, 3])
    },
  },
  {
    name: 'round-robin, weighted: fractions keep three decimals',
    run() {
      const service = serviceWith({ instances: weighing([0.5, 1.5]), suppliers: ['weighted'] })
      expect(counts(picks(service, 2_000), 2)).to.deep.equal([500, 1500])
    },
  },
  {
    name: 'random: uniform, and the same picks for the same seed and service id',
    run() {
      const draw = (seed: number) => picks(serviceWith({ instances: addresses(5), policy: 'random' }, { seed }), 5_000)
      const first = draw(7)
      expectShares(counts(first, 5), [1, 1, 1, 1, 1])
      expect(draw(7)).to.deep.equal(first)
      expect(draw(8)).not.to.deep.equal(first)
    },
  },
  {
    name: 'random: in proportion to weights',
    run() {
      const service = serviceWith({ instances: weighing([1, 2, 5]), suppliers: ['weighted'], policy: 'random' })
      expectShares(counts(picks(service, 8_000), 3), [1, 2, 5])
    },
  },
  {
    name: 'least-request: of two, always the one with fewer requests in flight',
    run() {
      const service = serviceWith({ instances: addresses(2), policy: 'least-request' })
      hold(service, [3, 0])
      expect(picks(service, 50)).to.deep.equal(new Array(50).fill(1))
    },
  },
  {
    name: 'least-request: never the most loaded, for two distinct draws are compared',
    run() {
      const service = serviceWith({ instances: addresses(4), policy: leastRequest() })
      hold(service, [0, 1, 1, 9])
      const counted = counts(picks(service, 2_000), 4)
      expect(counted[3]).to.equal(0)
      expect(counted[0]).to.be.greaterThan(Math.max(counted[1] as number, counted[2] as number))
    },
  },
  {
    name: 'least-request: with as many choices as candidates, the least loaded of all',
    run() {
      const service = serviceWith({ instances: addresses(5), policy: { type: 'least-request', choices: 5 } })
      hold(service, [2, 3, 1, 2, 4])
      expect(picks(service, 50)).to.deep.equal(new Array(50).fill(2))
    },
  },
  {
    name: 'least-request: load counts per weight',
    run() {
      const service = serviceWith({ instances: weighing([1, 10]), suppliers: ['weighted'], policy: 'least-request' })
      hold(service, [1, 4])
      expect(picks(service, 50)).to.deep.equal(new Array(50).fill(1))
    },
  },
  {
    name: "least-request: Envoy's form sends a quarter to the busier of two",
    run() {
      const policy = leastRequest({ form: 'envoy' })
      const service = serviceWith({ instances: addresses(2), policy })
      hold(service, [3, 0])
      expectShares(counts(picks(service, 4_000), 2), [1, 3])
    },
  },
  {
    name: "least-request: Envoy's form rotates over weights that requests in flight lessen",
    run() {
      const service = serviceWith({
        instances: weighing([6, 1]),
        suppliers: ['weighted'],
        policy: { type: 'least-request', form: 'envoy' },
      })
      hold(service, [2, 0])
      // 6 / 3 against 1 / 1.
      const [heavy = 0, light = 0] = counts(picks(service, 900), 2)
      expect(heavy).to.be.closeTo(600, 2)
      expect(light).to.be.closeTo(300, 2)
    },
  },
  {
    name: 'least-connections: of 10, 5 and 8 requests in flight, the second',
    run() {
      const service = serviceWith({ instances: addresses(3), policy: leastConnections() })
      hold(service, [10, 5, 8])
      expect(picks(service, 20)).to.deep.equal(new Array(20).fill(1))
    },
  },
  {
    name: 'least-connections: load counts per weight, an idle service is shared by weight',
    run() {
      const service = serviceWith({
        instances: weighing([1, 2, 5]),
        suppliers: ['weighted'],
        policy: 'least-connections',
      })
      expectShares(counts(picks(service, 8_000), 3), [1, 2, 5])
      hold(service, [1, 1, 4])
      expect(picks(service, 20)).to.deep.equal(new Array(20).fill(1))
    },
  },
  {
    name: 'least-response-time: the least latency, times what is in flight and one more',
    run() {
      const clock = handClock()
      const service = serviceWith({ instances: addresses(2), policy: leastResponseTime() }, { clock: clock.now })
      const indexes = indexer(service)
      for (const lease of [service.pick(), service.pick()]) {
        lease?.done({ latencyMs: lease && indexes(lease.instance) === 0 ? 20 : 50 })
      }
      const taken = Array.from({ length: 4 }, () => {
        const lease = service.pick()
        return lease === undefined ? -1 : indexes(lease.instance)
      })
      // 20 against 50, 40 against 50, 60 against 50, 60 against 100.
      expect(taken).to.deep.equal([0, 0, 1, 0])
    },
  },
  {
    name: 'least-response-time: averages over time, and takes a failure for slow',
    run() {
      const clock = handClock()
      const policy = leastResponseTime({ decayMs: 1_000 })
      const service = serviceWith({ instances: addresses(1), policy }, { clock: clock.now })
      const sample = (outcome: object) => {
        service.pick()?.done(outcome)
        return service.stats().instances[0]?.latencyMs as number
      }
      expect(sample({ latencyMs: 20 })).to.equal(20)
      clock.advance(1_000)
      expect(sample({ latencyMs: 120 })).to.be.closeTo(20 + 100 * (1 - Math.exp(-1)), 1e-9)
      clock.advance(50_000)
      expect(sample({ latencyMs: 1, status: 503 })).to.be.closeTo(5_000, 1e-9)
    },
  },
  {
    name: 'peak-ewma: the faster of two, until the slow one has been forgotten',
    run() {
      const clock = handClock()
      const service = serviceWith(
        { instances: addresses(2), policy: peakEwma({ decayMs: 1_000 }) },
        { clock: clock.now },
      )
      const indexes = indexer(service)
      const latencies = [10, 500]
      for (const lease of [service.pick(), service.pick()]) {
        lease?.done({ latencyMs: latencies[indexes(lease.instance)] as number })
      }
      expect(service.stats().instances.map(({ latencyMs }) => latencyMs)).to.deep.equal(latencies)
      const next = () => {
        const lease = service.pick()
        lease?.done({ cancelled: true })
        return lease === undefined ? -1 : indexes(lease.instance)
      }
      expect(Array.from({ length: 20 }, next)).to.deep.equal(new Array(20).fill(0))
      // Only the fast one is kept warm: 500 ms × e^(-5) is less than 10 ms.
      clock.advance(5_000)
      const fast = service.pick()
      expect(fast && indexes(fast.instance), 'the slow one is decayed as the fast one is').to.equal(0)
      fast?.done({ latencyMs: 10 })
      expect(next()).to.equal(1)
    },
  },
  {
    name: 'peak-ewma: latency is taken from the clock between pick and done',
    run() {
      const clock = handClock()
      const service = serviceWith({ instances: addresses(1), policy: 'peak-ewma' }, { clock: clock.now })
      const lease = service.pick()
      clock.advance(42)
      lease?.done()
      expect(service.stats().instances[0]?.latencyMs).to.equal(42)
    },
  },
  {
    name: 'peak-ewma: a slower sample counts at once, a faster one by and by',
    run() {
      const clock = handClock()
      const service = serviceWith({ instances: addresses(1), policy: 'peak-ewma' }, { clock: clock.now })
      const sample = (latencyMs: number) => {
        service.pick()?.done({ latencyMs })
        return service.stats().instances[0]?.latencyMs as number
      }
      expect(sample(20)).to.equal(20)
      expect(sample(90)).to.equal(90)
      clock.advance(100)
      expect(sample(20)).to.be.within(88, 90)
    },
  },
  {
    name: 'peak-ewma: an instance that fails fast is not taken for a quick one',
    run() {
      const clock = handClock()
      const service = serviceWith({ instances: addresses(2), policy: 'peak-ewma' }, { clock: clock.now })
      const indexes = indexer(service)
      const taken = Array.from({ length: 200 }, () => {
        const lease = service.pick()
        if (lease === undefined) throw new Error('no lease')
        const index = indexes(lease.instance)
        lease.done(index === 0 ? { latencyMs: 1, status: 503 } : { latencyMs: 50, status: 200 })
        clock.advance(10)
        return index
      })
      expect(counts(taken, 2)[0]).to.be.at.most(3)
    },
  },
  {
    name: 'dynamic-weight: by e^(−mean ms / 1000) and the error rate, from the hundredth sample on',
    run() {
      const clock = handClock()
      const service = serviceWith({ instances: addresses(3), policy: dynamicWeight() }, { clock: clock.now })
      const indexes = indexer(service)
      const taken = (count: number, outcome: (index: number) => object) =>
        Array.from({ length: count }, () => {
          const lease = service.pick()
          const index = lease === undefined ? -1 : indexes(lease.instance)
          lease?.done(outcome(index))
          return index
        })
      const latencies = [100, 1_000, 100]
      const first = taken(3_000, (index) => ({
        latencyMs: latencies[index] as number,
        status: index === 2 ? 503 : 200,
      }))
      expectShares(counts(first, 3), [1, 1, 1])
      // Forty updates: 0.7^40 of the old weights is left.
      for (let second = 0; second < 40; second++) {
        clock.advance(1_000)
        taken(1, () => ({ cancelled: true }))
      }
      const weights = [Math.exp(-0.1), Math.exp(-1), 0.01 * Math.exp(-0.1)]
      expectShares(
        counts(
          taken(8_000, () => ({ cancelled: true })),
          3,
        ),
        weights,
      )
    },
  },
  {
    name: 'relative-weight: 10 ms against 50 ms is 5 : 1, a failing instance is left',
    run() {
      const clock = handClock()
      const service = serviceWith({ instances: addresses(3), policy: relativeWeight() }, { clock: clock.now })
      const indexes = indexer(service)
      const taken = Array.from({ length: 4_000 }, () => {
        const lease = service.pick()
        const index = lease === undefined ? -1 : indexes(lease.instance)
        lease?.done({ latencyMs: index === 0 ? 10 : 50, status: index === 2 ? 500 : 200 })
        clock.advance(10)
        return index
      })
      const [fast = 0, slow = 0, failing = 0] = counts(taken.slice(1_000), 3)
      expect(fast / slow).to.be.within(4, 6)
      expect(failing / 3_000).to.be.below(0.06)
      expect(failing).to.be.above(0)
    },
  },
  {
    name: 'weighted: over rampMs a changed weight moves its share evenly',
    run() {
      const clock = handClock()
      const service = serviceWith(
        { instances: weighing([1, 1]), suppliers: [weighted({ rampMs: 10_000 })], policy: 'random' },
        { clock: clock.now },
      )
      service.update(weighing([100, 1]))
      for (const [elapsed, share] of [
        [0, 0.5],
        [5_000, 0.745],
        [5_000, 0.99],
      ] as const) {
        clock.advance(elapsed)
        expect((counts(picks(service, 4_000), 2)[0] as number) / 4_000).to.be.closeTo(share, 0.03)
      }
    },
  },
  {
    name: 'pickMany: indexes into instances(), in the order of the policy, without leases',
    run() {
      const service = serviceWith({ instances: addresses(3), policy: roundRobin({ start: -1 }) })
      const out = new Int32Array(5)
      expect(service.pickMany(out)).to.equal(5)
      expect([...out]).to.deep.equal([0, 1, 2, 0, 1])
      expect(service.stats().instances.map(({ picks }) => picks)).to.deep.equal([0, 0, 0])
    },
  },
  {
    name: 'services of one balancer do not disturb each other',
    run() {
      const alone = picks(serviceWith({ instances: addresses(9), policy: 'random' }), 100)
      const service = serviceWith({ instances: addresses(9), policy: 'random' })
      const beside = serviceWith({ instances: addresses(4), policy: 'random' })
      const mixed = Array.from({ length: 100 }, () => {
        picks(beside, 3)
        return picks(service, 1)[0]
      })
      expect(mixed).to.deep.equal(alone)
    },
  },
]

export const cases: Case[] = [...roundRobins, ...interleaved, ...rotations, ...others]
