import { describe, expect, it, vi } from 'vitest'
import {
  createLoadBalancer,
  type FetchLike,
  type LoadBalancerOptions,
  type RequestTransformer,
  roundRobin,
  type ServiceOptions,
} from '../../bindings/index.js'
import { stickySession } from '../../bindings/supplier/sticky-session.js'

const refused = () =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })

/** A balancer whose transport notes each request, refuses the first ones and answers the others. */
function noting(
  refusals: number,
  options: Partial<ServiceOptions> = {},
  balancer: Partial<LoadBalancerOptions> = {},
  answer: () => Response = () => new Response('ok'),
) {
  const sent: Request[] = []
  const given: [unknown, RequestInit | undefined][] = []
  const transport: FetchLike = async (input, init) => {
    given.push([input, init])
    // A body that is a stream is read by the transport, as here.
    sent.push(new Request(input, init))
    if (sent.length <= refusals) throw refused()
    return answer()
  }
  const lb = createLoadBalancer({
    clock: () => 0,
    seed: 1,
    fetch: transport,
    ...balancer,
    services: {
      s: { instances: ['http://a:1', 'https://b:2'], policy: roundRobin({ start: -1 }), ...options },
    },
  })
  const service = lb.service('s')
  const headers = (name: string) => sent.map((request) => request.headers.get(name))
  const endings = () => {
    const sums = { inFlight: 0, successes: 0, failures: 0, cancelled: 0 }
    for (const instance of service.stats().instances) {
      for (const key of Object.keys(sums) as (keyof typeof sums)[]) sums[key] += instance[key]
    }
    return sums
  }
  return { lb, service, sent, given, headers, endings }
}

describe('request transformers', () => {
  const signed: RequestTransformer = (request, instance, original) => {
    const changed = new Request(request)
    changed.headers.set('x-signed', `${instance.host} ${original.url} ${request.headers.get('x-signed') ?? ''}`)
    return changed
  }

  it('change what is sent, each what the one before made, told the instance and the original', async () => {
    const seen: Request[] = []
    const { lb, sent, headers } = noting(
      0,
      {},
      {
        transformers: [
          signed,
          (request, _, original) => {
            seen.push(request, original)
            return signed(request, _, original)
          },
        ],
      },
    )
    await lb.fetch('http://s/x?y', { headers: { 'x-own': '1' } })
    expect(sent[0]?.url).toBe('http://a:1/x?y')
    expect(headers('x-signed')).toEqual(['a http://s/x?y a http://s/x?y'])
    expect(seen.map(({ url }) => url)).toEqual(['http://a:1/x?y', 'http://s/x?y'])
    expect(seen[1]?.headers.get('x-own')).toBe('1')
  })

  it('start from the original at each attempt', async () => {
    const originals = new Set<Request>()
    const { lb, sent, headers } = noting(
      1,
      {},
      {
        transformers: [
          (request, instance, original) => {
            originals.add(original)
            return signed(request, instance, original)
          },
        ],
      },
    )
    await lb.fetch('http://s/x')
    expect(sent.map(({ url }) => url)).toEqual(['http://a:1/x', 'https://b:2/x'])
    expect(headers('x-signed')).toEqual(['a http://s/x', 'b http://s/x'])
    expect(originals.size).toBe(1)
  })

  it('take a Request, a URL, a path of a service and of a lease', async () => {
    const originals: Request[] = []
    const noted: RequestTransformer = (request, _, original) => (originals.push(original), request)
    const { lb, service, headers } = noting(0, { instances: ['http://a:1'] }, { transformers: [signed, noted] })
    const request = new Request('http://s/request', { headers: { 'x-own': '1' } })
    await lb.fetch(request)
    await lb.fetch(request, { headers: { 'x-other': '2' } })
    await lb.fetch(new URL('http://s/url'))
    await service.fetch('/service')
    await service.pick()?.fetch('?lease')
    expect(headers('x-signed')).toEqual([
      'a http://s/request',
      'a http://s/request',
      'a http://s/url',
      'a http://s/service',
      'a http://s/?lease',
    ])
    expect(headers('x-own')).toEqual(['1', null, null, null, null])
    expect(originals[0]).toBe(request)
    expect(headers('x-other')).toEqual([null, '2', null, null, null])
  })

  it('let bodies through: of texts, streams and Requests', async () => {
    const { lb, sent } = noting(0, {}, { transformers: [signed] })
    const stream = () => new Blob(['stream']).stream()
    await lb.fetch('http://s/', { method: 'POST', body: 'text' })
    await lb.fetch('http://s/', { method: 'POST', body: stream(), duplex: 'half' } as RequestInit)
    await lb.fetch(new Request('http://s/', { method: 'POST', body: 'of a request' }))
    await lb.fetch(new Request('http://s/', { method: 'POST', body: 'replaced' }), { body: 'by this' })
    expect(await Promise.all(sent.map((request) => request.text()))).toEqual([
      'text',
      'stream',
      'of a request',
      'by this',
    ])
  })

  it('change what a binding is given', async () => {
    const seen: string[] = []
    const fetcher = {
      fetch: async (input: string | URL | Request) => {
        seen.push((input as Request).headers.get('x-signed') ?? '')
        return new Response()
      },
    }
    const { lb, service } = noting(0, { instances: [{ instanceId: 'b', fetcher }] }, { transformers: [signed] })
    await lb.fetch('http://s/x')
    await service.fetch('/y')
    expect(seen).toEqual(['http://s/x', 'http://s/y'])
  })

  it('can’t lose the caller’s signal, nor that of a time limit', async () => {
    const { lb, given } = noting(
      0,
      { instances: ['http://a:1'] },
      { transformers: [({ url }) => new Request(url, { headers: { 'x-new': '1' } })] },
    )
    const { signal } = new AbortController()
    await lb.fetch('http://s/', { signal })
    expect(given[0]?.[1]?.signal).toBe(signal)
    await lb.with({ timeoutMs: 1_000 }).fetch('http://s/')
    expect(given[1]?.[1]?.signal).toBeInstanceOf(AbortSignal)
  })

  it.each(['GET', 'POST'])('one that throws ends a %s with its error before anything is sent', async (method) => {
    const mistake = new Error('mistake')
    const transformers: RequestTransformer[] = [
      () => {
        throw mistake
      },
    ]
    const { lb, sent, endings } = noting(0, { retry: { exceptions: () => true } }, { transformers })
    const input = new Request('http://s/', { method, ...(method === 'POST' && { body: 'x' }) })
    await expect(lb.fetch(input)).rejects.toBe(mistake)
    expect(sent).toHaveLength(0)
    expect(endings()).toEqual({ inFlight: 0, successes: 0, failures: 0, cancelled: 1 })
  })

  it('nor where a browser first has to read the body', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0' })
    let asked = 0
    const retry = { exceptions: () => true, retryOnAllOperations: true }
    const transformers: RequestTransformer[] = [
      () => {
        asked++
        throw new Error('mistake')
      },
    ]
    const { lb, sent, endings } = noting(0, { retry }, { transformers })
    const input = new Request('http://s/', { method: 'POST', body: 'x' })
    await expect(lb.fetch(input, { body: 'y' })).rejects.toThrow('mistake')
    expect([asked, sent.length]).toEqual([1, 0])
    expect(endings()).toEqual({ inFlight: 0, successes: 0, failures: 0, cancelled: 1 })
    vi.unstubAllGlobals()
  })

  it.each([undefined, null, 'http://a:1/', Promise.resolve(new Request('http://a:1/'))])(
    'one that returns %s and no Request is named',
    async (wrong) => {
      const { lb, sent, endings } = noting(0, {}, { transformers: [(request) => request, () => wrong as never] })
      await expect(lb.fetch('http://s/')).rejects.toMatchObject({
        code: 'EVENKEEL_CONFIG',
        option: 'transformers[1]',
        serviceId: 's',
      })
      expect(sent).toHaveLength(0)
      expect(endings()).toMatchObject({ inFlight: 0, cancelled: 1 })
    },
  )

  it('one that is async and rejects is named as well, and its rejection is handled', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const transformers = [() => Promise.reject(new Error('mistake')) as never]
    const { lb, endings } = noting(0, {}, { transformers })
    await expect(lb.fetch('http://s/')).rejects.toMatchObject({
      code: 'EVENKEEL_CONFIG',
      message: expect.stringContaining('transformers[0] returned a promise'),
    })
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
    expect(endings()).toMatchObject({ inFlight: 0, cancelled: 1 })
  })
})

describe('xForwarded', () => {
  it('names the scheme that is sent where lb:// leaves it to the instance', async () => {
    const { lb, sent, headers } = noting(1, { xForwarded: true })
    await lb.fetch('lb://s/x')
    await lb.fetch('LB://s:8080/x')
    expect(sent.map(({ url }) => url)).toEqual(['http://a:1/x', 'https://b:2/x', 'https://b:2/x'])
    expect(headers('x-forwarded-proto')).toEqual(['http', 'https', 'https'])
    expect(headers('x-forwarded-host')).toEqual(['s', 's', 's:8080'])
  })

  it('is http for a binding, which is asked by http:// where lb:// was written', async () => {
    const seen: Request[] = []
    const fetcher = { fetch: async (request: Request) => (seen.push(request), new Response()) }
    const { lb } = noting(0, { xForwarded: true, instances: [{ instanceId: 'app', fetcher: fetcher as never }] })
    await lb.fetch('lb://s/x?y')
    expect(seen.map(({ url, headers }) => [url, headers.get('x-forwarded-proto')])).toEqual([['http://s/x?y', 'http']])
  })

  it('names the authority and scheme that were asked for, once, retries included', async () => {
    const { lb, headers } = noting(1, { xForwarded: true })
    await lb.fetch('https://s:8443/x')
    await lb.fetch('http://s/x')
    await lb.fetch(new Request('http://s:80/x'))
    expect(headers('x-forwarded-host')).toEqual(['s:8443', 's:8443', 's', 's'])
    expect(headers('x-forwarded-proto')).toEqual(['https', 'https', 'http', 'http'])
  })

  it('takes the service for the host of a path', async () => {
    const { service, headers } = noting(0, { xForwarded: true })
    await service.fetch('/x')
    expect([headers('x-forwarded-host'), headers('x-forwarded-proto')]).toEqual([['s'], ['http']])
  })

  it('leaves alone what the caller says, and everything else', async () => {
    const { lb, headers, given } = noting(0, { xForwarded: true })
    const init = { method: 'PUT', headers: { 'X-Forwarded-Host': 'edge', 'x-own': '1' }, redirect: 'manual' } as const
    await lb.fetch('https://s/x', init)
    expect([headers('x-forwarded-host'), headers('x-forwarded-proto'), headers('x-own')]).toEqual([
      ['edge'],
      ['https'],
      ['1'],
    ])
    expect(given[0]?.[1]).toMatchObject({ method: 'PUT', redirect: 'manual' })
    expect(init.headers).toEqual({ 'X-Forwarded-Host': 'edge', 'x-own': '1' })
  })

  it('is seen by transformers', async () => {
    const seen: (string | null)[] = []
    const transformers: RequestTransformer[] = [
      (request) => (seen.push(request.headers.get('x-forwarded-host')), request),
    ]
    await noting(0, { xForwarded: true }, { transformers }).lb.fetch('http://s/x')
    expect(seen).toEqual(['s'])
  })

  it('names each instance tried, after what is there, with the quirk x-forwarded-instance', async () => {
    const { lb, headers } = noting(1, { xForwarded: true }, { compat: ['x-forwarded-instance'] })
    await lb.fetch('http://s:99/x', { headers: { 'X-Forwarded-Host': 'first' } })
    expect(headers('x-forwarded-host')).toEqual(['first, a', 'first, a, b'])
    expect(headers('x-forwarded-proto')).toEqual(['http', 'http, https'])
  })
})

describe('a sticky cookie', () => {
  const sticky = (options: Parameters<typeof stickySession>[0]) => ({ suppliers: [stickySession(options)] })

  it('tells the instance its own id, in place of another', async () => {
    const { lb, headers } = noting(1, sticky({ addServiceInstanceCookie: true, cookie: 'node' }))
    await lb.fetch('http://s/', { headers: { cookie: 'a=1; node=gone;b=2; node=older' } })
    await lb.fetch('http://s/')
    expect(headers('cookie')).toEqual(['a=1; node=a:1;b=2', 'a=1; node=b:2;b=2', expect.stringMatching(/^node=.:\d$/)])
  })

  it('is added after what is there, again with each attempt, with the quirk sticky-cookie-appends', async () => {
    const { lb, headers } = noting(1, sticky({ addServiceInstanceCookie: true, cookie: 'node' }), {
      compat: ['sticky-cookie-appends'],
    })
    await lb.fetch('http://s/', { headers: { cookie: 'node=gone' } })
    expect(headers('cookie')).toEqual(['node=gone; node=a:1', 'node=gone; node=a:1; node=b:2'])
  })

  it('is set with the response, unless the request named that instance', async () => {
    const setCookie = { path: '/x', maxAgeSeconds: 60, httpOnly: true, secure: true, sameSite: 'lax' } as const
    const { lb } = noting(0, sticky({ setCookie, cookie: 'node' }))
    const cookieOf = async (init?: RequestInit) => (await lb.fetch('http://s/', init)).headers.getSetCookie()
    expect(await cookieOf()).toEqual(['node=a:1; Path=/x; Max-Age=60; Secure; HttpOnly; SameSite=Lax'])
    expect(await cookieOf({ headers: { cookie: 'node=b:2' } })).toEqual([])
    expect(await cookieOf({ headers: { cookie: 'node=gone' } })).toHaveLength(1)
  })

  it('is set on a response that can’t be changed: another one, the same otherwise', async () => {
    const answer = () => {
      const response = new Response('body', { status: 201, statusText: 'Made', headers: { 'set-cookie': 'own=1' } })
      Object.defineProperty(response, 'url', { value: 'http://a:1/' })
      return response
    }
    const { lb } = noting(0, sticky({ setCookie: true }), {}, answer)
    const response = await lb.fetch('http://s/')
    const { status, statusText, url } = response
    expect([status, statusText, url, await response.text()]).toEqual([201, 'Made', 'http://a:1/', 'body'])
    expect(response.headers.getSetCookie()).toEqual(['own=1', 'sc-lb-instance-id=a:1; Path=/'])
  })

  it('names an instance whose id is half a surrogate pair by what can be written of it', async () => {
    const instances = [{ url: 'http://a:1', instanceId: 'a\ud800' }]
    const { lb, headers } = noting(0, {
      instances,
      suppliers: [stickySession({ setCookie: true, addServiceInstanceCookie: true, cookie: 'node' })],
    })
    const [set] = (await lb.fetch('http://s/')).headers.getSetCookie()
    expect(set).toBe('node=a%EF%BF%BD; Path=/')
    expect(headers('cookie')).toEqual(['node=a%EF%BF%BD'])
  })

  it('is set on a response without a body, and not on one that can’t be made again', async () => {
    const empty = noting(0, sticky({ setCookie: true }), {}, () => new Response(null, { status: 204 }))
    const response = await empty.lb.fetch('http://s/')
    expect([response.status, response.headers.getSetCookie().length]).toEqual([204, 1])
    const chromiums = noting(0, sticky({ setCookie: true }), {}, () =>
      Object.defineProperty(new Response(null, { status: 204 }), 'body', { value: new ReadableStream() }),
    )
    expect((await chromiums.lb.fetch('http://s/')).headers.getSetCookie()).toHaveLength(1)
    const opaque = noting(0, sticky({ setCookie: true }), {}, () => Response.error())
    expect((await opaque.lb.fetch('http://s/')).headers.getSetCookie()).toEqual([])
  })

  it('goes with a body that counts as in flight until it is read', async () => {
    const { lb, endings } = noting(0, { ...sticky({ setCookie: true }), release: 'body' })
    const response = await lb.fetch('http://s/')
    expect(response.headers.getSetCookie()).toHaveLength(1)
    expect(endings().inFlight).toBe(1)
    expect(await response.text()).toBe('ok')
    expect(endings().inFlight).toBe(0)
  })
})

describe('retry quirks', () => {
  const tried = (sent: readonly Request[]) => sent.map(({ url }) => new URL(url).host.slice(0, 1)).join('')
  const abc = ['http://a:1', 'http://b:1', 'http://c:1']

  it('retry-post-on-exception: any method is repeated after an error, none after a status', async () => {
    const compat = ['retry-post-on-exception']
    const post = { method: 'POST' }
    const failing = noting(1, {}, { compat })
    await failing.lb.fetch('http://s/', post)
    expect(failing.sent).toHaveLength(2)
    const busy = noting(0, { retry: { statusCodes: [503] } }, { compat }, () => new Response('', { status: 503 }))
    await busy.lb.fetch('http://s/', post)
    expect(busy.sent).toHaveLength(1)
  })

  it('retry-same-moves-on: the policy is asked for the same instance too', async () => {
    const options = { instances: abc, retry: { maxRetriesOnSameServiceInstance: 1 } }
    const { lb, sent, service } = noting(9, options, { compat: ['retry-same-moves-on'] })
    await expect(lb.fetch('http://s/')).rejects.toThrow('fetch failed')
    // Each of the two outer rounds asks twice; the second one avoids b, which ended the first.
    expect(tried(sent)).toBe('abac')
    expect(service.stats()).toMatchObject({ retriesSame: 2, retriesNext: 1 })
  })

  it('retry-exceptions-drop-status: a status counts only where the own exceptions say so', async () => {
    const busy = () => new Response('', { status: 503 })
    const compat = ['retry-exceptions-drop-status']
    const counts = async (exceptions: ((error: unknown) => boolean) | undefined, quirks: string[]) => {
      const retry = { statusCodes: [503], ...(exceptions !== undefined && { exceptions }) }
      const { lb, sent } = noting(0, { retry }, { compat: quirks }, busy)
      await lb.fetch('http://s/')
      return sent.length
    }
    const named = (error: unknown) => (error as Error).name === 'RetryableStatusCodeException'
    expect(await counts(() => false, [])).toBe(2)
    expect(await counts(() => false, compat)).toBe(1)
    expect(await counts(named, compat)).toBe(2)
    expect(await counts(undefined, compat)).toBe(2)
  })
})
