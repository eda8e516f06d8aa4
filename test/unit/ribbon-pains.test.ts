/** What users of Ribbon have suffered from in its rules: the rows of a survey of issues, with what should happen instead. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, weightedResponseTime, zoneAvoidance } from '../../bindings/index.js'
import { bench, refused, tally } from './ribbon-service.js'

const HEALTH = { healthCheck: { repeat: false } }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

describe('1: a random rule is out of range when a server is down (ribbon 233)', () => {
  it('of a, b, c with only a up, 1000 picks are a', async () => {
    const one = bench('a b c', 'random', [], {}, HEALTH)
    await one.down('b', 'c')
    expect(one.picks(1_000)).toBe('a'.repeat(1_000))
  })

  it('ribbon-random-index: two of three draws are beyond the list of those that are up', async () => {
    const one = bench('a b c', 'random', ['ribbon-random-index'], {}, HEALTH)
    await one.down('b', 'c')
    const counted = tally(one.picks(3_000))
    expect(Object.keys(counted).sort()).toEqual(['-', 'a'])
    expect(Math.abs((counted.a as number) - 1_000)).toBeLessThan(5 * Math.sqrt((3_000 * 2) / 9))
  })
})

describe('2: a weighted rule spins when nobody is alive (ribbon 338)', () => {
  it.each([[[]], ['ribbon' as const]])('nobody, at once, with compat %j', async (compat) => {
    const one = bench('a b', weightedResponseTime({ updateMs: 1_000 }), compat, {}, HEALTH)
    await one.down()
    one.picks(1)
    one.answer('a', 10)
    one.answer('b', 20)
    one.time.now += 1_000
    expect(new Set(one.picks(50))).toEqual(new Set(['a', 'b']))
    await one.down('a', 'b')
    expect(one.picks(3)).toBe('---')
  })

  it('and with one of two alive it is that one, whatever it weighs', async () => {
    const one = bench('a b', weightedResponseTime({ updateMs: 1_000 }), 'ribbon', {}, HEALTH)
    await one.down()
    one.picks(1)
    one.answer('a', 100)
    one.time.now += 1_000
    await one.down('b')
    expect(one.picks(20)).toBe('a'.repeat(20))
  })
})

describe('4: weights for three, a list of two (ribbon PR 365)', () => {
  it('as in Ribbon: in turn over two until weights are worked out again', () => {
    const one = bench('a b c', weightedResponseTime({ updateMs: 10_000 }), ['ribbon-weights-lifetime'])
    one.picks(1)
    for (const [host, ms] of [
      ['a', 10],
      ['b', 500],
      ['c', 500],
    ] as const)
      one.answer(host, ms)
    one.time.now += 10_000
    expect(tally(one.picks(300)).a).toBeGreaterThan(120)
    one.service.update(['http://a:80', 'http://b:80'])
    expect(tally(one.picks(300))).toEqual({ a: 150, b: 150 })
  })

  it('ours: the two are weighed anew at once', () => {
    const one = bench('a b c', weightedResponseTime({ updateMs: 10_000 }))
    one.picks(1)
    for (const [host, ms] of [
      ['a', 10],
      ['b', 490],
      ['c', 500],
    ] as const)
      one.answer(host, ms)
    one.service.update(['http://a:80', 'http://b:80'])
    const counted = tally(one.picks(1_000))
    expect(Object.keys(counted).sort()).toEqual(['a', 'b'])
    // 490 to 10.
    expect(Math.abs((counted.a as number) - 980)).toBeLessThan(5 * Math.sqrt(1_000 * 0.98 * 0.02))
  })
})

describe('5: a counter larger than the list of those eligible (ribbon PR 357)', () => {
  it.each([[[]], [['ribbon-counter' as const]]])('counter 4, then two: a valid pick, with compat %j', (compat) => {
    const one = bench('a b c d e', zoneAvoidance(), compat)
    const before = one.picks(4)
    if (compat.length > 0) expect(before).toBe('abcd')
    one.service.update(['http://a:80', 'http://b:80'])
    expect(one.picks(4)).toMatch(/^(ab|ba){2}$/)
  })
})

describe('7: a retry on the next server goes to the same one (ribbon 394)', () => {
  it.each([
    'random',
    'availability-filtering',
    'best-available',
    'zone-avoidance',
    'weighted-response-time',
    'retry-rule',
  ])('%s: a fails, b answers', async (policy) => {
    for (let seed = 0; seed < 20; seed++) {
      const sent: string[] = []
      const lb = createLoadBalancer({
        seed,
        fetch: async (input) => {
          const { hostname } = new URL((input as Request).url ?? input)
          sent.push(hostname)
          if (hostname === 'a') throw refused()
          return new Response('ok')
        },
        services: { s: { instances: ['http://a:80', 'http://b:80'], policy } },
      })
      expect((await lb.fetch('http://s/')).status).toBe(200)
      expect(sent.at(-1)).toBe('b')
      expect(sent.length).toBe(sent[0] === 'a' ? 2 : 1)
      await lb.close()
    }
  })
})

describe('8: best available picks whom the ping has reported down (ribbon 171)', () => {
  it('a idle and down, b busy and up: b', async () => {
    const one = bench('a b', 'best-available', [], {}, HEALTH)
    await one.down()
    one.hold('b', 5)
    await one.down('a')
    expect(one.picks(3)).toBe('bbb')
  })
})

describe('10: passing over the dead unbalances (ribbon 466)', () => {
  it.each([[[]], ['ribbon' as const]])('b of four dead, 300 picks: 100 each, with compat %j', async (compat) => {
    const one = bench('a b c d', 'round-robin', compat, {}, HEALTH)
    await one.down('b')
    expect(tally(one.picks(300))).toEqual({ a: 100, c: 100, d: 100 })
  })

  it('ten of eleven dead: a, a, a, a; Ribbon: none, a, none, a', async () => {
    const seen = async (compat: 'ribbon' | []) => {
      const one = bench('a b c d e f g h i j k', 'round-robin', compat, {}, HEALTH)
      await one.down(...'bcdefghijk')
      return one.picks(4)
    }
    expect(await seen([])).toBe('aaaa')
    expect(await seen('ribbon')).toBe('-a-a')
  })
})

describe('14: what a retry met is credited to another server (spring-cloud-netflix 3131)', () => {
  it('a fails, b answers: one failure of a, one success of b', async () => {
    const lb = createLoadBalancer({
      fetch: async (input) => {
        if (new URL((input as Request).url ?? input).hostname === 'a') throw refused()
        return new Response('ok')
      },
      services: {
        s: { instances: ['http://a:80', 'http://b:80'], policy: { name: 'first', pick: () => 0 }, serverStats: {} },
      },
    })
    const answer = await lb.fetch('http://s/')
    await answer.text()
    const { instances } = lb.service('s').stats()
    expect(instances.map(({ successes, failures }) => ({ successes, failures }))).toEqual([
      { successes: 0, failures: 1 },
      { successes: 1, failures: 0 },
    ])
    expect(instances.map(({ server }) => [server?.requests, server?.connectionFailures])).toEqual([
      [1, 1],
      [1, 0],
    ])
  })
})

describe('16: what fails within retries does not reach the breaker (spring-cloud-netflix 1878)', () => {
  it('three connection errors of a in one call: a is passed over for 10 s', async () => {
    const time = { now: 0 }
    let sent: string[] = []
    const lb = createLoadBalancer({
      clock: () => time.now,
      seed: 1,
      fetch: async (input) => {
        const { hostname } = new URL((input as Request).url ?? input)
        sent.push(hostname)
        if (hostname === 'a') throw refused()
        return new Response('ok')
      },
      services: {
        s: {
          instances: ['http://a:80', 'http://b:80'],
          policy: 'availability-filtering',
          retry: { maxRetriesOnSameServiceInstance: 2, maxRetriesOnNextServiceInstance: 1 },
        },
      },
    })
    const calls = async (count: number) => {
      sent = []
      for (let i = 0; i < count; i++) expect((await lb.fetch('http://s/')).status).toBe(200)
      return tally(sent.join(''))
    }
    expect(await calls(2)).toMatchObject({ a: 3 })
    time.now = 9_999
    expect(await calls(20)).toEqual({ b: 20 })
    time.now = 10_000
    expect(await calls(2)).toHaveProperty('a')
  })
})

describe('19: a preference sticks to a broken zone (spring-cloud-netflix 1072)', () => {
  it('both of my zone tripped: the other zone', () => {
    const one = bench('a1 b1 c2', zoneAvoidance(), [], { zone: '1' })
    one.trip('a')
    one.trip('b')
    expect(one.picks(5)).toBe('ccccc')
  })
})

describe('weights by a lifetime mean recover too slowly (servicecomb-java-chassis 2176)', () => {
  /** a and b both take 10 ms; a has 1000 such samples, then ten of 5 s, and is healthy again for one window. */
  function shareAfter(compat: 'ribbon-weights-lifetime'[]): number {
    const one = bench('a b', weightedResponseTime({ updateMs: 1_000, windowMs: 30_000 }), compat)
    one.picks(1)
    const healthy = (steps: number) => {
      for (let i = 0; i < steps; i++) {
        one.time.now += 100
        one.answer('a', 10)
        one.answer('b', 10)
      }
    }
    healthy(1_000)
    expect(Math.abs((tally(one.picks(2_000)).a as number) - 1_000)).toBeLessThan(112)
    for (let i = 0; i < 10; i++) one.answer('a', 5_000)
    one.time.now += 1_000
    const during = (tally(one.picks(2_000)).a ?? 0) / 2_000
    expect(during).toBeLessThan(0.25)
    healthy(300)
    return (tally(one.picks(2_000)).a ?? 0) / 2_000
  }

  it('back within one window; by the lifetime mean it is not', () => {
    // Five standard deviations of a half.
    expect(Math.abs(shareAfter([]) - 0.5)).toBeLessThan(0.056)
    expect(shareAfter(['ribbon-weights-lifetime'])).toBeLessThan(0.25)
  })
})

describe('two of four get twice what the others do (spring-cloud-netflix 3114)', () => {
  it.each(['round-robin', 'availability-filtering', 'zone-avoidance'])('%s: 100 each, refreshes or not', (policy) => {
    for (const compat of [[], 'ribbon'] as const) {
      const one = bench('a b c d', policy, compat)
      let picked = ''
      for (let i = 0; i < 80; i++) {
        picked += one.picks(5)
        one.service.update('abcd'.split('').map((host) => `http://${host}:80`))
      }
      expect(tally(picked)).toEqual({ a: 100, b: 100, c: 100, d: 100 })
    }
  })
})
