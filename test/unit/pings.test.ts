/** What says who is alive, in place of the GET of health checks: Ribbon's pings, and a user's own. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type ConfigError,
  constantPing,
  createLoadBalancer,
  dummyPing,
  type FetchLike,
  type HealthCheckOptions,
  type InstanceInit,
  type LoadBalancerOptions,
  type Ping,
  registryPing,
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
const never = () => new Promise<never>(() => {})

function setup(
  ping: NonNullable<HealthCheckOptions['ping']>,
  rest: {
    instances?: readonly InstanceInit[]
    health?: HealthCheckOptions
    service?: ServiceOptions
    balancer?: LoadBalancerOptions
    answer?: (url: string) => Response | Promise<Response>
  } = {},
) {
  const asked: string[] = []
  const fetch: FetchLike = async (input) => {
    asked.push(String(input))
    return rest.answer?.(String(input)) ?? new Response('ok')
  }
  const instances = rest.service?.discovery ? {} : { instances: rest.instances ?? ['http://a:80', 'http://b:81'] }
  const lb = createLoadBalancer({
    fetch,
    seed: 1,
    ...rest.balancer,
    services: { s: { ...instances, healthCheck: { ping, ...rest.health }, ...rest.service } },
  })
  return { asked, lb, service: lb.service('s') }
}

const candidates = async (service: Service) => (await service.explain()).candidates.map(({ host }) => host)
const reasons = async (service: Service) => (await service.explain()).excluded.map(({ reason }) => reason)

describe('dummyPing', () => {
  it.each([dummyPing(), 'dummy', { type: 'dummy' }])('asks nobody: everybody is alive at once (%#)', async (ping) => {
    const { service, asked } = setup(ping)
    expect(service.pick()).toBeDefined()
    expect(vi.getTimerCount()).toBe(0)
    await service.check()
    expect([asked, service.stats().healthChecks]).toEqual([[], 0])
    expect((await service.explain()).layers[1]).toMatchObject({ reason: expect.stringContaining('"dummy"') })
  })
})

describe('constantPing', () => {
  it.each([
    [constantPing(), ['a', 'b']],
    [constantPing({ alive: false }), []],
    [{ type: 'constant', alive: false }, []],
  ])('is what it says, and nothing is sent (%#)', async (ping, alive) => {
    const { service, asked } = setup(ping)
    await service.check()
    expect(await candidates(service)).toEqual(alive)
    expect(asked).toEqual([])
    if (alive.length === 0) expect(await reasons(service)).toContain('health check: the ping says so')
  })
})

describe('urlPing', () => {
  it('asks each instance as it is, and takes a status of 200 alone', async () => {
    const { service, asked } = setup(urlPing({ path: 'ping?x=1' }), {
      instances: ['http://a:80', 'https://b', { host: '::1', port: 8080 }],
      answer: (url) => new Response('x', { status: url.includes('//b') ? 201 : 200 }),
    })
    await service.check()
    expect(asked).toEqual(['http://a:80/ping?x=1', 'https://b:443/ping?x=1', 'http://[::1]:8080/ping?x=1'])
    expect(await candidates(service)).toEqual(['a', '::1'])
    expect(await reasons(service)).toEqual(['health check: status 201'])
  })

  it.each([true, false])('secure: %s is said for all', async (secure) => {
    const { service, asked } = setup(urlPing({ secure }))
    await service.check()
    const scheme = secure ? 'https' : 'http'
    expect(asked).toEqual([`${scheme}://a:80/`, `${scheme}://b:81/`])
  })

  it('with expectedContent takes a 200 with exactly this body', async () => {
    const bodies: Record<string, [string, number]> = { a: ['true', 200], b: ['true', 500], c: ['true\n', 200] }
    const { service } = setup(urlPing({ expectedContent: 'true' }), {
      instances: ['http://a', 'http://b', 'http://c'],
      answer: (url) => {
        const [body, status] = bodies[new URL(url).hostname] as [string, number]
        return new Response(body, { status })
      },
    })
    await service.check()
    expect(await candidates(service)).toEqual(['a'])
    expect(await reasons(service)).toEqual(['health check: status 500', 'health check: not the expected content'])
  })

  it('goes through the fetcher of an instance that has one', async () => {
    const urls: string[] = []
    const fetcher = {
      fetch: async (request: Request | string | URL) => {
        urls.push((request as Request).url)
        return new Response('ok')
      },
    }
    const { service, asked } = setup('url', { instances: [{ instanceId: 'own', fetcher }] })
    await service.check()
    expect([urls, asked]).toEqual([['http://s/'], []])
    expect(service.pick()?.instance.instanceId).toBe('own')
  })
})

describe('registryPing', () => {
  const instances = [
    { host: 'up', metadata: { status: 'UP' } },
    { host: 'down', metadata: { status: 'OUT_OF_SERVICE' } },
    { host: 'unknown' },
    { host: 'lower', metadata: { status: 'up', health: 'DOWN' } },
  ]

  it('believes the registry, and who is unknown to it is alive', async () => {
    const { service, asked } = setup('registry', { instances })
    await service.check()
    expect(await candidates(service)).toEqual(['up', 'unknown', 'lower'])
    expect(await reasons(service)).toEqual(['health check: registry status OUT_OF_SERVICE'])
    expect(asked).toEqual([])
  })

  it('reads the status where it is told to', async () => {
    const { service } = setup(registryPing({ status: ({ metadata }) => metadata.health }), { instances })
    await service.check()
    expect(await candidates(service)).toEqual(['up', 'down', 'unknown'])
  })
})

it('registryPing takes null for unknown', async () => {
  const status = () => null
  expect(await registryPing({ status }).isAlive({} as never, {} as never)).toMatchObject({ alive: true })
})

describe("a user's own ping", () => {
  const byHost = (answers: Record<string, Ping['isAlive']>): Ping => ({
    name: 'own',
    isAlive: (instance, context) => (answers[instance.host] as Ping['isAlive'])(instance, context),
  })

  it('may answer at once or later, with a reason; throwing is a no', async () => {
    const ping = byHost({
      a: () => true,
      b: async () => ({ alive: false, reason: 'too busy' }),
      c: () => {
        throw new Error('broken')
      },
      d: async () => false,
    })
    const { service } = setup(ping, { instances: ['http://a', 'http://b', 'http://c', 'http://d'] })
    await service.check()
    expect(await candidates(service)).toEqual(['a'])
    expect(await reasons(service)).toEqual([
      'health check: too busy',
      'health check: broken',
      'health check: ping "own" says no',
    ])
  })

  it('is ended after timeoutMs, and holds up nobody', async () => {
    let signal: AbortSignal | undefined
    const ping = byHost({
      a: (_, context) => {
        signal = context.signal
        return never()
      },
      b: () => true,
    })
    const { service } = setup(ping, { health: { timeoutMs: 50 } })
    service.pick()
    await passMs(49)
    expect([signal?.aborted, service.state]).toEqual([false, 'cold'])
    await passMs(1)
    expect(signal?.aborted).toBe(true)
    expect(await candidates(service)).toEqual(['b'])
  })

  it('lets go of the answers that it does not read', async () => {
    let cancelled = 0
    const body = () => new ReadableStream({ cancel: () => void cancelled++ })
    const ping: Ping = { name: 'own', isAlive: async (_, { fetch }) => (await fetch('http://x/')).ok }
    const { service } = setup(ping, { answer: () => new Response(body()) })
    await service.check()
    expect(cancelled).toBe(2)
  })
})

describe('the rounds of a ping', () => {
  it('keep the interval (Netflix/ribbon#200): 5 s, so at 0, 5 and 10 s', async () => {
    const times: number[] = []
    const ping: Ping = { name: 'own', isAlive: () => times.push(performance.now() - startedAt) > 0 }
    const { service } = setup(ping, { instances: ['http://a'], health: { intervalMs: 5_000 } })
    const startedAt = performance.now()
    service.pick()
    await passMs(14_999)
    expect(times).toEqual([0, 5_000, 10_000])
  })

  it('ask several at a time, as many as maxConcurrent says', async () => {
    let now = 0
    let most = 0
    const ping: Ping = {
      name: 'own',
      isAlive: async () => {
        most = Math.max(most, ++now)
        await new Promise((resolve) => setTimeout(resolve, 10))
        now--
        return true
      },
    }
    const instances = Array.from({ length: 10 }, (_, i) => `http://h${i}`)
    const { service } = setup(ping, { instances, health: { maxConcurrent: 4 } })
    service.pick()
    await passMs(30)
    expect([most, service.stats().candidates]).toEqual([4, 10])
  })

  it('tell of an instance only when it has changed', async () => {
    const alive = { a: true, b: true }
    const ping: Ping = { name: 'own', isAlive: ({ host }) => alive[host as 'a'] }
    const { service } = setup(ping, { health: { intervalMs: 1_000 } })
    const told: string[] = []
    service.on('eject', ({ instance }) => told.push(`-${instance.host}`))
    service.on('restore', ({ instance }) => told.push(`+${instance.host}`))
    service.pick()
    await passMs(3_000)
    alive.b = false
    await passMs(3_000)
    alive.b = true
    await passMs(3_000)
    expect(told).toEqual(['-b', '+b'])
  })

  it('are remembered over refreshes, for the same instance', async () => {
    const alive: Record<string, boolean> = { a: true, b: false }
    const ping: Ping = { name: 'own', isAlive: async ({ host }) => alive[host] ?? true }
    const lists = [
      ['http://a:80', 'http://b:81'],
      ['http://b:81', 'http://a:80', 'http://c:82'],
    ]
    const { service } = setup(ping, {
      health: { intervalMs: 10_000 },
      service: { discovery: async () => lists[0] as string[] },
    })
    await service.choose()
    expect(await candidates(service)).toEqual(['a'])
    const seen = new Set<string | undefined>()
    lists.shift()
    service.on('change', () => {
      for (let i = 0; i < 10; i++) seen.add(service.pick()?.instance.host)
    })
    await service.refresh()
    expect([...seen]).toEqual(['a'])
    await passMs(0)
    expect(await candidates(service)).toEqual(['a', 'c'])
  })
})

describe('refused', () => {
  it.each<[HealthCheckOptions, string]>([
    [{ ping: 'url', path: '/x' }, 'services.s.healthCheck.path'],
    [{ ping: 'url', port: 1 }, 'services.s.healthCheck.port'],
    [{ ping: 'url', accept: () => true }, 'services.s.healthCheck.accept'],
    [{ ping: 'nobody' }, 'services.s.healthCheck.ping'],
    [{ ping: { name: '', isAlive: () => true } }, 'services.s.healthCheck.ping.name'],
    [{ ping: { type: 'url', expectedContent: 5 } }, 'services.s.healthCheck.ping.expectedContent'],
    [{ ping: { type: 'constant', alive: 'yes' } }, 'services.s.healthCheck.ping.alive'],
    [{ ping: { type: 'dummy', x: 1 } }, 'services.s.healthCheck.ping.x'],
    [{ ping: { type: 'registry', status: 'UP' } }, 'services.s.healthCheck.ping.status'],
  ])('%j', (healthCheck, option) => {
    const make = () => createLoadBalancer({ services: { s: { instances: [], healthCheck } } })
    expect(make).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option } satisfies Partial<ConfigError>))
  })

  it('not where the defaults have the path and the service the ping', () => {
    const lb = createLoadBalancer({
      defaults: { healthCheck: { path: '/x' } },
      services: { s: { instances: [], healthCheck: { ping: 'url' } } },
    })
    expect(lb.service('s').options().healthCheck?.value).toMatchObject({ ping: 'url' })
  })
})
