/** Ribbon's behaviours around pings, priming, retries and addresses, each seen from both sides. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type Compat,
  createLoadBalancer,
  type FetchLike,
  type InstanceInit,
  type Ping,
  type Service,
  type ServiceOptions,
  urlPing,
} from '../../bindings/index.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const candidates = async (service: Service) => (await service.explain()).candidates.map(({ host }) => host).join('')

function make(compat: Compat, options: ServiceOptions, fetch: FetchLike = async () => new Response('ok')): Service {
  return createLoadBalancer({ seed: 1, fetch, compat, services: { s: options } }).service('s')
}

interface Quirk {
  see(compat: Compat): Promise<unknown>
  readonly ribbon: unknown
  readonly evenkeel: unknown
}

const QUIRKS: Record<string, Quirk> = {
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

describe.each(Object.entries(QUIRKS))('%s', (id, { see, ribbon, evenkeel }) => {
  it('with the id is as in Ribbon', async () => {
    expect(await see([id])).toEqual(ribbon)
  })

  it('without it is as it should be', async () => {
    expect(await see([])).toEqual(evenkeel)
  })
})
