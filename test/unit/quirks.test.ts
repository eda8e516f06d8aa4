/**
 * Each quirk of Spring Cloud LoadBalancer, seen from both sides: what a balancer does with its id in `compat`, alone and
 * among all the others, and what it does without. docs/quirks.md has a row for each.
 */

import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { RIBBON_QUIRKS, SPRING_QUIRKS } from '../../bindings/compat/quirks.js'
import {
  apiVersion,
  attemptsOf,
  type Compat,
  createLoadBalancer,
  type DiscoveryClient,
  type FetchLike,
  hint,
  type InstanceInit,
  type LoadBalancerOptions,
  roundRobin,
  type ServiceInstance,
  type ServiceOptions,
  sameInstancePreference,
  stickySession,
  subset,
  weighted,
} from '../../bindings/index.js'

interface Quirk {
  /** What a user sees. */
  see(compat: Compat): unknown
  readonly spring: unknown
  readonly evenkeel: unknown
  /** With all the other quirks as well something else hides it. */
  readonly hiddenAmongOthers?: true
}

const abc: readonly InstanceInit[] = ['http://a:80', 'http://b:80', 'http://c:80']
const ok: FetchLike = async () => new Response('ok')
const refused = () => Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })

function make(compat: Compat, options: ServiceOptions, balancer: Omit<LoadBalancerOptions, 'services'> = {}) {
  const time = { now: 0 }
  const lb = createLoadBalancer({
    seed: 1,
    clock: () => time.now,
    fetch: ok,
    ...balancer,
    compat,
    services: { s: { policy: roundRobin({ start: -1 }), ...options } },
  })
  return { time, lb, service: lb.service('s') }
}

const named = (get: DiscoveryClient['get'], name = 'registry', order = 0): DiscoveryClient => ({
  name,
  order,
  ...(get && { get }),
})
const codeOf = (error: unknown) => (error as { code?: string }).code ?? (error as Error).message
const hostsOf = (list: readonly ServiceInstance[]) => list.map(({ host }) => host).join('')

/** The hosts that so many picks reach, in order. */
function picks({ service }: ReturnType<typeof make>, count: number, request = {}): string {
  return Array.from({ length: count }, () => {
    const lease = service.pick(request)
    lease?.done()
    return lease?.instance.host ?? '-'
  }).join('')
}

/** Sends through a transport that keeps what it is asked; the URLs and headers. */
function recording(answer: (host: string, call: number) => Response | Promise<Response> = () => new Response('ok')) {
  const sent: { url: string; host: string; headers: Headers }[] = []
  const transport: FetchLike = async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const url = request?.url ?? String(input)
    const headers = new Headers(request?.headers)
    for (const [name, value] of new Headers(init?.headers)) headers.set(name, value)
    sent.push({ url, host: new URL(url).hostname, headers })
    return answer(new URL(url).hostname, sent.length)
  }
  return { sent, transport }
}

const settle = () => vi.advanceTimersByTimeAsync(0)

const QUIRKS: Record<(typeof SPRING_QUIRKS)[number], Quirk> = {
  'no-list-no-response': {
    async see(compat) {
      const { service } = make(compat, { discovery: named(() => null as never) })
      return service.choose().then((lease) => lease ?? 'nobody', codeOf)
    },
    spring: 'nobody',
    evenkeel: 'EVENKEEL_DISCOVERY',
  },
  'health-keeps-client-open': {
    async see(compat) {
      let closed = 0
      const client = { ...named(() => abc), close: async () => void closed++ }
      const { lb, service } = make(compat, { discovery: client, healthCheck: {} })
      await service.choose()
      await lb.close()
      return closed
    },
    spring: 0,
    evenkeel: 1,
  },
  'discovery-timeout-late': {
    async see(compat) {
      let answer = (_: readonly InstanceInit[]) => {}
      const client = named(() => new Promise((resolve) => (answer = resolve)))
      const { service, time } = make(compat, { discovery: client, discoveryTimeoutMs: 1_000 })
      let outcome = 'waiting'
      void service.choose().then(
        (lease) => (outcome = lease === undefined ? 'nobody' : 'somebody'),
        (error) => (outcome = codeOf(error)),
      )
      time.now = 1_000
      await vi.advanceTimersByTimeAsync(1_000)
      const atTheLimit = outcome
      answer(abc)
      await settle()
      return [atTheLimit, outcome]
    },
    spring: ['waiting', 'nobody'],
    evenkeel: ['EVENKEEL_DISCOVERY', 'EVENKEEL_DISCOVERY'],
  },
  'discovery-failure-empties': {
    async see(compat) {
      let fails = false
      const client = named(() => {
        if (fails) throw new Error('down')
        return abc
      })
      const { service } = make(compat, { discovery: client })
      await service.choose()
      fails = true
      await service.refresh().catch(() => {})
      return [service.instances().length, service.stats().discoveryErrors]
    },
    spring: [0, 1],
    evenkeel: [3, 1],
  },
  'cache-no-single-flight': {
    async see(compat) {
      let asked = 0
      const client = named(async () => {
        asked++
        return abc
      })
      const { service } = make(compat, { discovery: client })
      await Promise.all([service.choose(), service.choose(), service.choose()])
      return asked
    },
    spring: 3,
    evenkeel: 1,
  },
  'cache-no-stale': {
    async see(compat) {
      const lists = [abc, ['http://z:80']]
      const { service, time } = make(compat, {
        discovery: named(async () => lists.shift() as readonly InstanceInit[]),
        cache: { ttlMs: 1_000 },
      })
      await service.choose()
      time.now = 1_500
      return (await service.choose())?.instance.host
    },
    spring: 'z',
    evenkeel: 'b',
  },
  'health-publish-each': {
    async see(compat) {
      const answers = new Map<string, () => void>()
      const probe: FetchLike = (input) =>
        new Promise((resolve) => answers.set(new URL(String(input)).hostname, () => resolve(new Response('UP'))))
      const { service } = make(compat, { instances: abc, healthCheck: {} }, { fetch: probe })
      service.pick()
      await settle()
      const seen: string[] = []
      for (const host of ['c', 'a', 'b']) {
        answers.get(host)?.()
        await settle()
        seen.push(service.pick() === undefined ? '-' : hostsOf((await service.explain()).candidates))
      }
      return seen
    },
    spring: ['c', 'ca', 'cab'],
    evenkeel: ['-', '-', 'abc'],
  },
  'health-list-once': {
    async see(compat) {
      const lists = [abc, ['http://z:80']]
      const { service, time } = make(compat, {
        discovery: named(async () => lists.shift() ?? ['http://z:80']),
        healthCheck: { intervalMs: 10_000 },
      })
      await service.choose()
      for (let i = 0; i < 10; i++) {
        time.now += 10_000
        await vi.advanceTimersByTimeAsync(10_000)
      }
      return hostsOf(service.instances())
    },
    spring: 'abc',
    evenkeel: 'z',
  },
  'hint-default': {
    see(compat) {
      const instances = [{ url: 'http://a:80', hint: 'default' }, 'http://b:80']
      return picks(make(compat, { instances, suppliers: [hint()] }), 4)
    },
    spring: 'aaaa',
    evenkeel: 'abab',
  },
  'same-instance-by-metadata': {
    see(compat) {
      const beat = (at: string) => abc.map((url) => ({ url: url as string, metadata: { beat: at } }))
      const made = make(compat, { instances: beat('1'), suppliers: [sameInstancePreference()] })
      const first = picks(made, 2)
      made.service.update(beat('2'))
      return first + picks(made, 2)
    },
    spring: 'aabb',
    evenkeel: 'aaaa',
  },
  'retry-aware-one-row': {
    see(compat) {
      const { service } = make([...(compat as string[]), 'weighted-expanded'], {
        instances: [{ url: 'http://a:80', weight: 3 }, 'http://b:80'],
        suppliers: [weighted()],
      })
      const previous = [service.instances()[0] as ServiceInstance]
      return service.explain({ previous }).then(({ candidates }) => hostsOf(candidates))
    },
    spring: 'baa',
    evenkeel: 'b',
  },
  'retry-aware-no-second-list': {
    async see(compat) {
      const { service } = make(compat, { instances: abc, suppliers: [stickySession()] })
      const request = {
        cookies: { 'sc-lb-instance-id': 'a:80' },
        previous: [service.instances()[0] as ServiceInstance],
      }
      return hostsOf((await service.explain(request)).candidates)
    },
    spring: 'a',
    evenkeel: 'bc',
  },
  'api-version-required-ignored': {
    see(compat) {
      const instances = abc.map((url) => ({ url: url as string, metadata: { API_VERSION: '1' } }))
      const suppliers = [apiVersion({ header: 'x-api-version', required: true, fallback: 'all' })]
      return picks(make(compat, { instances, suppliers }), 3)
    },
    spring: 'abc',
    evenkeel: '---',
  },
  'api-version-bad-request': {
    see(compat) {
      const instances = [{ url: 'http://a:80', metadata: { API_VERSION: '1' } }]
      const made = make(compat, { instances, suppliers: [apiVersion({ header: 'x-api-version', fallback: 'all' })] })
      try {
        return picks(made, 2, { headers: { 'x-api-version': '<script>' } })
      } catch (error) {
        return codeOf(error)
      }
    },
    spring: 'EVENKEEL_CONFIG',
    evenkeel: '--',
  },
  'api-version-bad-instance': {
    see(compat) {
      const instances = [
        { url: 'http://a:80', metadata: { API_VERSION: '1' } },
        { url: 'http://b:80', metadata: { API_VERSION: 'one.two' } },
      ]
      const made = make(compat, { instances, suppliers: [apiVersion({ header: 'x-api-version' })] })
      try {
        return picks(made, 2, { headers: { 'x-api-version': '1' } })
      } catch (error) {
        return codeOf(error)
      }
    },
    spring: 'EVENKEEL_CONFIG',
    evenkeel: 'aa',
  },
  'round-robin-shared-cursor': {
    see(compat) {
      const tagged = abc.map((url, i) => ({ url: url as string, hint: i < 2 ? 'x' : 'y' }))
      const { service } = make(compat, {
        instances: [...tagged, { url: 'http://d:80', hint: 'y' }],
        suppliers: [hint()],
      })
      return Array.from({ length: 8 }, (_, i) => service.pick({ hint: i % 2 ? 'y' : 'x' })?.instance.host).join('')
    },
    spring: 'adadadad',
    // Each of the two lists by turns; the second begins after the first one's first.
    evenkeel: 'adbcadbc',
  },
  'weighted-java-int': {
    see(compat) {
      const instances = ['0', '2.0', '+2', '٣'].map((weight, i) => ({ url: `http://h${i}:80`, metadata: { weight } }))
      const { service } = make(compat, { instances, suppliers: [weighted()] })
      return service.stats().instances.map(({ weight }) => weight)
    },
    spring: [1, 1, 2, 3],
    evenkeel: [0, 2, 2, 1],
  },
  'weighted-expanded': {
    async see(compat) {
      const instances = [{ url: 'http://a:80', weight: 2 }, 'http://b:80']
      const { service } = make(compat, { instances, suppliers: [weighted()] })
      const expanded = hostsOf((await service.explain()).candidates)
      service.update(['http://a:80', 'http://b:80'].map((url) => ({ url, weight: 2 ** 31 - 1 })))
      return [expanded, service.pick() === undefined]
    },
    spring: ['aba', true],
    evenkeel: ['ab', false],
  },
  'subset-unsorted': {
    async see(compat) {
      const kept = async (instances: readonly InstanceInit[]) => {
        const { service } = make(compat, { instances, suppliers: [subset({ instanceId: 'foobar', size: 1 })] })
        return hostsOf((await service.explain()).candidates)
      }
      return (await kept(abc)) === (await kept([...abc].reverse()))
    },
    spring: false,
    evenkeel: true,
  },
  'preset-unknown-empty': {
    see(compat) {
      try {
        return picks(make(compat, { instances: abc, preset: 'zone' }), 2)
      } catch (error) {
        return codeOf(error)
      }
    },
    spring: '--',
    evenkeel: 'EVENKEEL_CONFIG',
  },
  'retry-get-only': {
    async see(compat) {
      const { sent, transport } = recording(() => Promise.reject(refused()))
      const { lb } = make(compat, { instances: abc }, { fetch: transport })
      await lb.fetch('http://s/', { method: 'HEAD' }).catch(() => {})
      return sent.length
    },
    spring: 1,
    evenkeel: 2,
    hiddenAmongOthers: true,
  },
  'retry-exceptions-drop-status': {
    async see(compat) {
      const { sent, transport } = recording(() => new Response('', { status: 503 }))
      const retry = { statusCodes: [503], exceptions: (error: unknown) => (error as Error).name === 'TypeError' }
      await make(compat, { instances: abc, retry }, { fetch: transport }).lb.fetch('http://s/')
      return sent.length
    },
    spring: 1,
    evenkeel: 2,
  },
  'retry-hides-previous': {
    async see(compat) {
      const { transport } = recording((_, call) => (call === 1 ? Promise.reject(refused()) : new Response('ok')))
      const seen: string[] = []
      const lifecycle = [
        { onComplete: ({ previous }: { previous: readonly ServiceInstance[] }) => void seen.push(hostsOf(previous)) },
      ]
      await make(compat, { instances: abc }, { fetch: transport, lifecycle }).lb.fetch('http://s/')
      return seen
    },
    spring: ['', ''],
    evenkeel: ['', 'a'],
  },
  'retry-post-on-exception': {
    async see(compat) {
      const { sent, transport } = recording(() => Promise.reject(refused()))
      await make(compat, { instances: abc }, { fetch: transport })
        .lb.fetch('http://s/', { method: 'POST' })
        .catch(() => {})
      return sent.length
    },
    spring: 2,
    evenkeel: 1,
  },
  'retry-same-moves-on': {
    async see(compat) {
      const { transport } = recording(() => Promise.reject(refused()))
      const retry = { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 0 }
      const error = await make(compat, { instances: abc, retry }, { fetch: transport })
        .lb.fetch('http://s/')
        .catch((error) => error)
      return hostsOf(attemptsOf(error).map(({ instance }) => instance))
    },
    spring: 'ab',
    evenkeel: 'aa',
  },
  'cancelled-not-completed': {
    async see(compat) {
      const abort = new AbortController()
      const transport: FetchLike = (_, init) =>
        new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
      const seen: string[] = []
      const lifecycle = [{ onComplete: ({ status }: { status: string }) => void seen.push(status) }]
      const { lb } = make(compat, { instances: abc }, { fetch: transport, lifecycle })
      const call = lb.fetch('http://s/', { signal: abort.signal }).catch(() => {})
      abort.abort()
      await call
      return seen
    },
    spring: [],
    evenkeel: ['CANCELLED'],
  },
  'choose-error-not-completed': {
    async see(compat) {
      const seen: string[] = []
      const lifecycle = [{ onComplete: ({ status }: { status: string }) => void seen.push(status) }]
      const broken = {
        name: 'broken',
        filter() {
          throw new Error('broken supplier')
        },
      }
      await make(compat, { instances: abc, suppliers: [broken] }, { lifecycle })
        .lb.fetch('http://s/')
        .catch(() => {})
      return seen
    },
    spring: [],
    evenkeel: ['FAILED'],
  },
  'meters-without-uri': {
    async see(compat) {
      const { lb, service } = make(compat, { instances: abc, metrics: {} })
      await lb.fetch('http://s/items/42?q=1')
      const tags = service.stats().meters.find(({ name }) => name === 'loadbalancer.requests.success')?.tags
      return [tags?.method, tags?.uri]
    },
    spring: ['UNKNOWN', 'UNKNOWN'],
    evenkeel: ['GET', '/items/42'],
  },
  'x-forwarded-instance': {
    async see(compat) {
      const { sent, transport } = recording((_, call) => (call === 1 ? Promise.reject(refused()) : new Response('ok')))
      await make(compat, { instances: abc, xForwarded: true }, { fetch: transport }).lb.fetch('http://s:8443/')
      return sent.map(({ headers }) => headers.get('x-forwarded-host'))
    },
    spring: ['a', 'a, c'],
    evenkeel: ['s:8443', 's:8443'],
  },
  'sticky-cookie-appends': {
    async see(compat) {
      const { sent, transport } = recording()
      const { lb } = make(
        compat,
        { instances: abc, suppliers: [stickySession({ addServiceInstanceCookie: true })] },
        { fetch: transport },
      )
      await lb.fetch('http://s/', { headers: { cookie: 'k=1; sc-lb-instance-id=gone:80' } })
      return sent[0]?.headers.get('cookie')
    },
    spring: 'k=1; sc-lb-instance-id=gone:80; sc-lb-instance-id=a:80',
    evenkeel: 'k=1; sc-lb-instance-id=a:80',
  },
  'cookie-split-equals': {
    see(compat) {
      const made = make(compat, { instances: abc, suppliers: [stickySession()] })
      return picks(made, 3, { headers: { cookie: 'k=1; sc-lb-instance-id=c:80' } })
    },
    spring: 'abc',
    evenkeel: 'ccc',
  },
  'wss-port-80': {
    see(compat) {
      const { service } = make(compat, { instances: [{ host: 'a', secure: true }] })
      return service.pick()?.url('ws://s/x')
    },
    spring: 'wss://a:80/x',
    evenkeel: 'wss://a:443/x',
  },
  'uri-double-encode': {
    see(compat) {
      const { service } = make(compat, { instances: [{ host: 'a', port: 80 }] })
      return service.pick()?.url('http://s/x?m=%3Ca=b%3E')
    },
    spring: 'http://a:80/x?m=%253Ca=b%253E',
    evenkeel: 'http://a:80/x?m=%3Ca=b%3E',
  },
  'ipv6-unbracketed': {
    async see(compat) {
      const asked: string[] = []
      const probe: FetchLike = async (input) => {
        asked.push(String(input))
        return new Response('UP')
      }
      const { service } = make(compat, { instances: [{ host: '::1', port: 80 }], healthCheck: {} }, { fetch: probe })
      await service.check()
      return asked[0]
    },
    spring: 'http://::1:80/actuator/health',
    evenkeel: 'http://[::1]:80/actuator/health',
  },
  'composite-race': {
    async see(compat) {
      const slow = named(() => new Promise((resolve) => setTimeout(resolve, 100, ['http://slow:80'])), 'slow', 1)
      const quick = named(async () => ['http://quick:80'], 'quick', 2)
      const { service } = make(compat, { discovery: [quick, slow] })
      const chosen = service.choose()
      await vi.advanceTimersByTimeAsync(100)
      return (await chosen)?.instance.host
    },
    spring: 'quick',
    evenkeel: 'slow',
  },
  'composite-stops-at-error': {
    async see(compat) {
      const broken = named(async () => Promise.reject(new Error('down')), 'broken', 1)
      const { service } = make(compat, { discovery: [broken, named(async () => abc, 'good', 2)] })
      return service.choose().then((lease) => lease?.instance.host ?? 'nobody', codeOf)
    },
    spring: 'EVENKEEL_DISCOVERY',
    evenkeel: 'a',
    hiddenAmongOthers: true,
  },
}

afterEach(() => void vi.useRealTimers())

describe.each(Object.entries(QUIRKS))('%s', (id, { see, spring, evenkeel, hiddenAmongOthers }) => {
  it('by itself: as Spring Cloud LoadBalancer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    expect(await see([id])).toEqual(spring)
  })

  it('without it: as it should be', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    expect(await see([])).toEqual(evenkeel)
  })

  if (hiddenAmongOthers) return
  it('with all the others', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    expect(await see([...SPRING_QUIRKS])).toEqual(spring)
  })
})

it('has a row in the documentation for each, in order', async () => {
  const page = await readFile(new URL('../../docs/quirks.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, id]) => id)
  expect(rows).toEqual([...SPRING_QUIRKS, ...RIBBON_QUIRKS])
})
