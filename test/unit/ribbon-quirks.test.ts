/**
 * Each quirk of Ribbon, seen from both sides: with its id in `compat`, alone and among all the others, and without.
 * docs/quirks.md has a row for each.
 */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FORMULA_MAX } from '../../assembly/ribbon-flags.js'
import { quirksOf, RIBBON_QUIRKS } from '../../bindings/compat/quirks.js'
import {
  type Compat,
  createLoadBalancer,
  type FetchLike,
  filtering,
  type InstanceInit,
  type Ping,
  type Service,
  type ServiceOptions,
  serverListSubset,
  urlPing,
  weightedResponseTime,
  zoneAffinity,
} from '../../bindings/index.js'
import { ribbonFlags } from '../../bindings/policy/ribbon-rule.js'
import { CORES } from './cores.js'
import { bench, tally } from './ribbon-service.js'
import { weighed } from './weighed.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const candidates = async (service: Service) => (await service.explain()).candidates.map(({ host }) => host).join('')

function make(compat: Compat, options: ServiceOptions, fetch: FetchLike = async () => new Response('ok')): Service {
  return createLoadBalancer({
    seed: 1,
    fetch,
    compat,
    services: { s: { policy: 'least-request', ...options } },
  }).service('s')
}

/** Requests that a test sends to one server leave out the others, whatever the quirks. */
const REACHED: ServiceOptions = { retry: { avoidPreviousInstance: true } }
const CHECKED: ServiceOptions = { ...REACHED, healthCheck: { repeat: false } }

const ELEVEN = 'a b c d e f g h i j k'

/** How many pass Ribbon's zone avoidance in each of so many picks: the least and the most. */
function passing(compat: Compat, list: string, load: (one: ReturnType<typeof bench>) => void): [number, number] {
  let passed = 0
  const counting = () => ++passed > 0
  const policy = filtering({ predicates: [{ type: 'zone-avoidance', triggeringLoad: 0.5 }, counting] })
  const one = bench(list, policy, compat, {}, REACHED)
  load(one)
  const counts = Array.from({ length: 60 }, () => {
    passed = 0
    one.picks(1)
    return passed
  })
  return [Math.min(...counts), Math.max(...counts)]
}

interface Quirk {
  see(compat: Compat): unknown
  readonly ribbon: unknown
  readonly evenkeel: unknown
  /** Among all others, if that differs. */
  readonly together?: unknown
}

const QUIRKS: Record<(typeof RIBBON_QUIRKS)[number], Quirk> = {
  'ribbon-counter': {
    see(compat) {
      const first = (seed: number) => bench('a b c', 'round-robin', compat, { seed }).picks(1)
      return [...new Set(Array.from({ length: 20 }, (_, seed) => first(seed)))].sort().join('')
    },
    ribbon: 'b',
    evenkeel: 'abc',
  },
  'ribbon-ten-probes': {
    async see(compat) {
      const one = bench(ELEVEN, 'round-robin', compat, {}, CHECKED)
      await one.down(...'bcdefghijk')
      return [...new Set(one.picks(22))].sort().join('')
    },
    ribbon: '-a',
    evenkeel: 'a',
  },
  'ribbon-random-index': {
    async see(compat) {
      const one = bench('a b c d', 'random', compat, {}, CHECKED)
      await one.down('a')
      return [...new Set(one.picks(100))].sort().join('')
    },
    ribbon: '-bcd',
    evenkeel: 'bcd',
  },
  'ribbon-weights-lifetime': {
    see(compat) {
      const one = bench('a b c', weightedResponseTime({ updateMs: 1_000 }), compat, {}, REACHED)
      one.picks(1)
      one.answer('a', 100)
      one.answer('b', 300)
      one.time.now += 1_000
      // Who has no samples gets 400 of 800, or 200 of 600: so many of 2000, within 21 each time.
      return (tally(one.picks(2_000)).c as number) > 830
    },
    ribbon: true,
    evenkeel: false,
  },
  'ribbon-weights-zero-first': {
    see(compat) {
      const core = CORES.release?.() as ReturnType<(typeof CORES)[string]>
      return weighed(core, [[100], [50]], FORMULA_MAX, ribbonFlags(quirksOf(compat))).owner(0)
    },
    ribbon: 0,
    evenkeel: 1,
  },
  'ribbon-best-ignores-alive': {
    async see(compat) {
      const chosen: string[] = []
      for (const policy of ['best-available', 'availability-filtering', 'zone-avoidance', 'filtering']) {
        const one = bench('a1 b2', policy, compat, {}, CHECKED)
        await one.down()
        one.trip('b')
        await one.down('a')
        chosen.push([...new Set(one.picks(4))].sort().join(''))
      }
      return chosen
    },
    ribbon: ['a', 'a', 'a', 'ab'],
    evenkeel: ['b', 'b', 'b', 'b'],
  },
  'ribbon-zone-draw-per-server': {
    see: (compat) =>
      passing(compat, 'a1 b2 c3', (one) => {
        one.hold('a')
        one.hold('b')
      }),
    ribbon: [1, 3],
    evenkeel: [2, 2],
  },
  'ribbon-zone-drops-good': {
    see: (compat) => passing(compat, 'a1 b2 c3', (one) => one.trip('a')),
    ribbon: [1, 1],
    together: [0, 2],
    evenkeel: [2, 2],
  },
  'ribbon-zone-preference-again': {
    async see(compat) {
      const { service, time, trip } = bench(
        'a1 b1 c2',
        'round-robin',
        compat,
        {},
        {
          ...REACHED,
          suppliers: [zoneAffinity({ zone: '1', prefer: true })],
          serverStats: { tripFactorMs: 100_000, maxTripMs: 100_000 },
        },
      )
      trip('a')
      trip('b')
      time.now += 30_000
      service.pick()
      return candidates(service)
    },
    ribbon: 'ab',
    evenkeel: 'abc',
  },
  'ribbon-subset-biased-shuffle': {
    async see(compat) {
      let second = 0
      for (let seed = 0; seed < 400; seed++) {
        const suppliers = [serverListSubset({ size: 2 })]
        const { service } = bench('a b c', 'round-robin', compat, { seed }, { suppliers })
        if ((await candidates(service)).includes('b')) second++
      }
      // 7/9 or 2/3 of them: 311 or 267, standard deviations of 8 and 9.
      return second > 289
    },
    ribbon: true,
    evenkeel: false,
  },
  'ribbon-refresh-revives': {
    async see(compat) {
      const list: InstanceInit[] = ['http://a:1', 'http://b:1']
      const ping: Ping = {
        name: 'own',
        isAlive: ({ host }) => new Promise((resolve) => setTimeout(() => resolve(host === 'a'), 1_000)),
      }
      const service = make(compat, { discovery: () => list, healthCheck: { ping, intervalMs: 10_000 } })
      const told: string[] = []
      service.on('eject', ({ instance }) => told.push(`-${instance.host}`))
      service.on('restore', ({ instance }) => told.push(`+${instance.host}`))
      await service.refresh()
      service.pick()
      await passMs(2_000)
      const seen = [await candidates(service)]
      await service.refresh()
      seen.push(await candidates(service))
      await passMs(2_000)
      seen.push(await candidates(service))
      return [...seen, ...told]
    },
    ribbon: ['a', 'ab', 'a', '-b', '+b', '-b'],
    evenkeel: ['a', 'a', 'a'],
  },
  'ribbon-ping-serial': {
    async see(compat) {
      const asked: string[] = []
      const ping: Ping = {
        name: 'own',
        isAlive: ({ host }) => {
          asked.push(`${host}@${performance.now() - startedAt}`)
          return new Promise((resolve) => setTimeout(() => resolve(true), 40_000))
        },
      }
      const service = make(compat, {
        instances: ['http://a:1', 'http://b:1'],
        healthCheck: { ping, intervalMs: 30_000 },
      })
      const startedAt = performance.now()
      service.pick()
      await passMs(80_000)
      return [asked.slice(0, 2), await candidates(service)]
    },
    ribbon: [['a@0', 'b@40000'], 'ab'],
    evenkeel: [['a@0', 'b@0'], ''],
  },
  'ribbon-ping-content-only': {
    async see(compat) {
      const bodies: Record<string, Response> = {
        a: new Response('true', { status: 500 }),
        b: new Response('true'),
        c: new Response('false'),
      }
      const service = make(
        compat,
        {
          instances: ['http://a:1', 'http://b:1', 'http://c:1'],
          healthCheck: { ping: urlPing({ expectedContent: 'true' }), repeat: false },
        },
        async (input) => bodies[new URL(String(input)).hostname] as Response,
      )
      await service.check()
      return candidates(service)
    },
    ribbon: 'ab',
    evenkeel: 'b',
  },
  'ribbon-prime-ready-on-failure': {
    async see(compat) {
      const service = make(
        compat,
        { instances: ['http://a:1', 'http://b:1'], prime: { attempts: 2 } },
        async (input) => {
          if (new URL(String(input)).hostname === 'a') throw new TypeError('fetch failed')
          return new Response('ok')
        },
      )
      void service.choose()
      await passMs(100)
      return candidates(service)
    },
    ribbon: 'ab',
    evenkeel: 'b',
  },
  'ribbon-split-at-colon': {
    async see(compat) {
      const lists: InstanceInit[][] = [
        ['[::1]:80'],
        ['http://[::1]/'],
        [{ url: 'https://[::1]:8443' }],
        ['a:80'],
        ['a'],
      ]
      return lists.map((instances) => {
        try {
          return make(compat, { instances }).instances()[0]?.host
        } catch (error) {
          return (error as { option?: string }).option
        }
      })
    },
    ribbon: ['services.s.instances[0]', 'services.s.instances[0]', 'services.s.instances[0].url', 'a', 'a'],
    evenkeel: ['::1', '::1', '::1', 'a', 'a'],
  },
  'ribbon-next-may-repeat': {
    async see(compat) {
      const sent: string[] = []
      const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })
      const service = make(
        compat,
        { instances: ['http://a:1', 'http://b:1'], policy: 'random', retry: { maxRetriesOnNextServiceInstance: 1 } },
        async (input) => {
          sent.push(new URL(String(input)).hostname)
          throw refused
        },
      )
      for (let i = 0; i < 100; i++) await service.fetch('/').catch(() => {})
      const calls = Array.from({ length: 100 }, (_, i) => sent.slice(2 * i, 2 * i + 2))
      return calls.some(([first, second]) => first === second)
    },
    ribbon: true,
    evenkeel: false,
  },
  'ribbon-percentiles-empty': {
    see(compat) {
      const serverStats = { percentiles: { samples: 2, periodMs: 10 } }
      const { service, time, answer } = bench('a', 'round-robin', compat, {}, { serverStats })
      answer('a', 9)
      return [10, 20].map((ms) => {
        time.now = 1_000 + ms
        return service.stats().instances[0]?.server?.percentilesMs?.[50]
      })
    },
    ribbon: [9, 0],
    evenkeel: [9, 9],
  },
  'ribbon-ping-follows-redirects': {
    async see(compat) {
      const service = make(
        compat,
        { instances: ['http://a:1', 'http://b:1'], healthCheck: { ping: urlPing({ path: '/ping' }), repeat: false } },
        async (input, init) => {
          if (new URL(String(input)).hostname === 'b' || init?.redirect === 'follow') return new Response('ok')
          return new Response('', { status: 302, headers: { location: 'http://c:1/' } })
        },
      )
      await service.check()
      return candidates(service)
    },
    ribbon: 'ab',
    evenkeel: 'b',
  },
  'ribbon-reset-is-connect': {
    async see(compat) {
      const codes = ['ECONNREFUSED', 'EHOSTUNREACH', 'ECONNRESET', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT']
      const sent: string[] = []
      for (const code of codes) {
        const service = make(compat, { instances: ['http://a:1'], retry: { handler: 'rest-client' } }, async () => {
          sent.push(code)
          throw Object.assign(new TypeError('fetch failed'), { cause: { code } })
        })
        await service.fetch('/', { method: 'POST' }).catch(() => {})
      }
      return codes.filter((code) => sent.indexOf(code) !== sent.lastIndexOf(code))
    },
    ribbon: ['ECONNREFUSED', 'EHOSTUNREACH', 'ECONNRESET'],
    evenkeel: ['ECONNREFUSED', 'EHOSTUNREACH', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'],
  },
  'ribbon-trips-by-class': {
    async see(compat) {
      const codes = ['ECONNRESET', 'ENOTFOUND', 'UND_ERR_SOCKET', 'UND_ERR_BPL_MISSING_UPSTREAM']
      const service = make(compat, { instances: ['http://a:1'], serverStats: {} })
      return codes.filter((code) => {
        service.pick()?.done({ status: 200 })
        service.pick()?.done({ error: Object.assign(new TypeError('fetch failed'), { cause: { code } }) })
        return service.stats().instances[0]?.server?.connectionFailures === 1
      })
    },
    ribbon: ['ECONNRESET', 'UND_ERR_BPL_MISSING_UPSTREAM'],
    evenkeel: ['ECONNRESET', 'ENOTFOUND', 'UND_ERR_SOCKET'],
  },
}

describe.each(Object.entries(QUIRKS))('%s', (id, { see, ribbon, evenkeel, together = ribbon }) => {
  it('by itself: as Ribbon', async () => {
    expect(await see([id])).toEqual(ribbon)
  })

  it('without it: as it should be', async () => {
    expect(await see([])).toEqual(evenkeel)
  })

  it('with all the others', async () => {
    expect(await see([...RIBBON_QUIRKS])).toEqual(together)
    expect(await see('ribbon')).toEqual(together)
  })
})
