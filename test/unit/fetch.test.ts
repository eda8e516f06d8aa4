import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import {
  attemptsOf,
  canary,
  createLoadBalancer,
  type FetchLike,
  type LoadBalancerOptions,
  roundRobin,
  type ServiceOptions,
  type Supplier,
} from '../../bindings/index.js'

const refused = () =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })

/** A balancer over a transport that the test scripts: one answer after the other, the last one for ever. */
function make(
  answers: (Response | Error | (() => Promise<Response>))[],
  options: Partial<ServiceOptions> = {},
  balancer: Partial<LoadBalancerOptions> = {},
) {
  const sent: { url: string; init: RequestInit | undefined; input: string | URL | Request }[] = []
  const transport: FetchLike = (input, init) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)]
    sent.push({ url: input instanceof Request ? input.url : String(input), init, input })
    if (answer instanceof Error) return Promise.reject(answer)
    return typeof answer === 'function' ? answer() : Promise.resolve((answer as Response).clone())
  }
  const time = { now: 0 }
  const lb = createLoadBalancer({
    clock: () => time.now,
    seed: 1,
    fetch: transport,
    ...balancer,
    services: {
      s: { instances: ['http://a:1', 'http://b:1', 'http://c:1'], policy: roundRobin({ start: -1 }), ...options },
    },
  })
  const service = lb.service('s')
  const idle = () => service.stats().instances.every(({ inFlight }) => inFlight === 0)
  const hosts = () => sent.map(({ url }) => new URL(url).host.slice(0, 1)).join('')
  return { lb, service, sent, time, idle, hosts }
}

const ok = new Response('ok')

describe('lb.fetch', () => {
  it('hands input and init on untouched, but for the authority', async () => {
    const { lb, sent } = make([ok])
    const init = { method: 'POST', body: 'x', redirect: 'manual', credentials: 'include' } as const
    await lb.fetch('http://s/a%2Fb//c?x=%7C&y=a+b;c#f', init)
    expect(sent[0]).toMatchObject({ url: 'http://a:1/a%2Fb//c?x=%7C&y=a+b;c#f' })
    expect(sent[0]?.init).toBe(init)
  })

  it('finds the service by the host: as written in text, ignoring case in a URL', async () => {
    const { lb } = make([ok])
    lb.define('My_Service', { instances: ['http://m:1'] })
    const fetch = lb.fetch
    expect((await fetch('http://My_Service/')).status).toBe(200)
    expect((await fetch(new URL('http://My_Service/'))).status).toBe(200)
    expect((await fetch(new Request('http://My_Service/'))).status).toBe(200)
    await expect(fetch('http://my_service/')).rejects.toMatchObject({
      code: 'EVENKEEL_UNKNOWN_SERVICE',
      message: expect.stringContaining('did you mean "My_Service"'),
    })
  })

  it('refuses what names no service, or passes it through', async () => {
    const strict = make([ok])
    await expect(strict.lb.fetch('/x')).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG', option: 'url' })
    await expect(strict.lb.fetch('http://example/x')).rejects.toMatchObject({
      code: 'EVENKEEL_UNKNOWN_SERVICE',
      serviceId: 'example',
    })
    await expect(strict.lb.fetch(5 as never)).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG', option: 'url' })
    const open = make([ok], {}, { unknownService: 'passthrough' })
    await open.lb.fetch('http://example/x?y')
    await open.lb.fetch('/relative')
    expect(open.sent.map(({ url }) => url)).toEqual(['http://example/x?y', '/relative'])
  })

  it('answers with no instance as told: an error, or a response', async () => {
    const throwing = make([ok], { instances: [] })
    await expect(throwing.lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_NO_INSTANCE', serviceId: 's' })
    const answering = make([ok], { instances: [], noInstance: 'response', noInstanceStatus: 404 })
    const response = await answering.lb.fetch('http://s/')
    expect([response.status, await response.text()]).toEqual([
      404,
      'no instance of "s" is available (its list is empty)',
    ])
  })

  it('sends through a service binding without an address', async () => {
    const seen: string[] = []
    const fetcher = {
      fetch: (input: string | URL | Request) => (
        seen.push((input as Request).url), Promise.resolve(new Response('bound'))
      ),
    }
    const { lb, service } = make([ok], { instances: [{ instanceId: 'b', fetcher }] })
    expect(await (await lb.fetch('http://s/x?y')).text()).toBe('bound')
    await service.pick()?.fetch('/z')
    expect(seen).toEqual(['http://s/x?y', 'http://s/z'])
  })

  it('sends through an application that takes a Request and answers at once', async () => {
    const app = { fetch: (request: Request) => new Response(new URL(request.url).pathname) }
    const { lb, idle } = make([ok], { instances: [{ instanceId: 'app', fetcher: app as never }] })
    expect(await (await lb.fetch('http://s/a')).text()).toBe('/a')
    expect(await (await lb.fetch(new Request('http://s/b'))).text()).toBe('/b')
    expect(idle()).toBe(true)
  })

  it.each([undefined, null, 'ok'])('names a transport or fetcher that answers %s', async (answer) => {
    const wrong = () => Promise.resolve(answer as never)
    for (const { lb, service, option, message } of [
      { ...make([wrong], { release: 'body' }), option: 'fetch', message: 'fetch answered' },
      {
        ...make([ok], { instances: [{ instanceId: 'app', fetcher: { fetch: wrong } }] }),
        option: 'fetcher',
        message: 'the fetcher of "app" answered',
      },
    ]) {
      const error = await lb.fetch('http://s/').catch((caught) => caught)
      expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', serviceId: 's', option })
      expect(error.message).toContain(`${message} ${typeof answer === 'string' ? '"ok"' : answer} `)
      expect(attemptsOf(error)).toMatchObject([{ error }])
      expect(service.stats().instances[0]).toMatchObject({ inFlight: 0, failures: 1 })
    }
  })

  it('ends the lease of a response that can’t be read', async () => {
    const odd = Object.defineProperty(new Response('x'), 'body', {
      get() {
        throw new Error('no body here')
      },
    })
    const { lb, service } = make([() => Promise.resolve(odd)], { release: 'body' })
    await expect(lb.fetch('http://s/')).rejects.toThrow('no body here')
    expect(service.stats().instances[0]).toMatchObject({ inFlight: 0, failures: 1 })
  })

  it('answers without a reason where the supplier that left nobody throws when it is asked for one', async () => {
    let asked = 0
    const moody: Supplier = {
      name: 'moody',
      filter() {
        if (asked++ > 0) throw new Error('asked again')
        return []
      },
    }
    const { lb } = make([ok], { suppliers: [moody], noInstance: 'response' })
    const response = await lb.fetch('http://s/')
    expect([response.status, await response.text()]).toEqual([
      503,
      'no instance of "s" is available (none of 3 is left)',
    ])
  })

  it('through a service replaces any host, and takes a path', async () => {
    const { service, sent } = make([ok])
    await service.fetch('https://whatever/x')
    await service.fetch('/y')
    expect(sent.map(({ url }) => url)).toEqual(['http://a:1/x', 'http://b:1/y'])
  })

  it('through a lease completes it by the result, and never goes elsewhere', async () => {
    const { service, sent, idle } = make([new Response('', { status: 503 }), refused(), ok])
    await service.pick()?.fetch('/x')
    await expect(service.pick()?.fetch('/x')).rejects.toThrow('fetch failed')
    expect(sent).toHaveLength(2)
    expect(service.stats().instances.map(({ failures }) => failures)).toEqual([1, 1, 0])
    expect(idle()).toBe(true)
  })
})

describe('retries', () => {
  it('once on another instance after a connection error, the attempts told beside the response', async () => {
    const { lb, service, hosts, idle } = make([refused(), ok])
    const response = await lb.fetch('http://s/')
    expect(hosts()).toBe('ac')
    expect(
      attemptsOf(response).map(({ instance, status, error }) => [instance.host, status, error !== undefined]),
    ).toEqual([
      ['a', undefined, true],
      ['c', 200, false],
    ])
    expect(service.stats()).toMatchObject({ retriesNext: 1, retriesSame: 0 })
    expect(idle()).toBe(true)
  })

  it('end with the last real error, unchanged', async () => {
    const errors = [refused(), refused()]
    const { lb, hosts, idle } = make(errors)
    const error = await lb.fetch('http://s/').catch((caught) => caught)
    expect(error).toBe(errors[1])
    expect(Object.keys(error)).toEqual(['cause'])
    expect(attemptsOf(error).map((attempt) => attempt.error)).toEqual(errors)
    expect(hosts()).toBe('ac')
    expect(idle()).toBe(true)
  })

  // SCLB 5.0: (1 + same) × (1 + next) attempts. Round robin's second place among the two others is c.
  it.each([
    [0, 0, 'a'],
    [0, 1, 'ac'],
    [1, 0, 'aa'],
    [1, 1, 'aacc'],
    [2, 1, 'aaaccc'],
    [0, 2, 'acb'],
  ])('same %i, next %i: %s', async (same, next, expected) => {
    const { lb, hosts, idle } = make([refused()], {
      retry: { maxRetriesOnSameServiceInstance: same, maxRetriesOnNextServiceInstance: next },
    })
    await expect(lb.fetch('http://s/')).rejects.toThrow('fetch failed')
    expect(hosts()).toBe(expected)
    expect(idle()).toBe(true)
  })

  it.each([
    ['GET', {}, 2],
    ['HEAD', {}, 2],
    ['OPTIONS', {}, 2],
    ['POST', {}, 1],
    ['PUT', {}, 1],
    ['DELETE', {}, 1],
    ['POST', { headers: { 'Idempotency-Key': '1' } }, 2],
    ['POST', { body: 'text', headers: { 'idempotency-key': '1' } }, 2],
    ['POST', { body: new Blob(['x']).stream(), duplex: 'half', headers: { 'idempotency-key': '1' } }, 1],
  ] as [string, RequestInit, number][])('%s with %j is tried %i times', async (method, init, times) => {
    const { lb, sent } = make([refused()])
    await expect(lb.fetch('http://s/', { method, ...init })).rejects.toThrow('fetch failed')
    expect(sent).toHaveLength(times)
  })

  it('of the same instance end with its own error, not with one of looking for another', async () => {
    const failures = [refused(), refused()]
    const { lb, hosts } = make(failures, {
      retry: { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 0 },
    })
    const error = await lb.fetch('http://s/').catch((caught) => caught)
    expect(error).toBe(failures[1])
    expect(error.cause.code).toBe('ECONNREFUSED')
    expect(hosts()).toBe('aa')
  })

  it('only after the errors that were named', async () => {
    const reset = Object.assign(new Error('read'), { name: 'ReadTimeout' })
    const named = make([refused(), reset], {
      retry: {
        maxRetriesOnNextServiceInstance: 2,
        exceptions: (error) => (error as Error).cause !== undefined,
      },
    })
    await expect(named.lb.fetch('http://s/')).rejects.toBe(reset)
    expect(named.hosts()).toBe('ac')
  })

  it.each([[], ['retry-exceptions-drop-status']])(
    'are none where the own exceptions throw: told once, the error unchanged (quirks: %s)',
    async (...compat) => {
      const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
      const failures = [refused(), refused()]
      const exceptions = () => {
        throw new Error('mistake')
      }
      const { lb, hosts, idle } = make(
        [...failures, new Response('busy', { status: 503 })],
        {
          retry: { statusCodes: compat.length > 0 ? [503] : [], exceptions },
        },
        { compat },
      )
      await expect(lb.fetch('http://s/')).rejects.toBe(failures[0])
      await expect(lb.fetch('http://s/')).rejects.toBe(failures[1])
      expect(await (await lb.fetch('http://s/')).text()).toBe('busy')
      expect([hosts(), idle()]).toEqual(['abc', true])
      expect(complaints.mock.calls).toEqual([['evenkeel: retry.exceptions threw', new Error('mistake')]])
      complaints.mockRestore()
    },
  )

  it.each([[[]], [['retry-same-moves-on']]])(
    'stay on the side of a canary split that the call was drawn for (quirks: %s)',
    async (compat) => {
      const instances = Array.from({ length: 8 }, (_, i) => ({
        url: `http://h${i}:1`,
        metadata: { canary: String(i < 4) },
      }))
      const retry = { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 1 }
      const { lb } = make([refused()], { instances, suppliers: [canary({ percent: 30 })], retry }, { compat })
      let atCanaries = 0
      for (let i = 0; i < 400; i++) {
        const error = await lb.fetch('http://s/').catch((caught) => caught)
        const sides = attemptsOf(error).map(({ instance }) => instance.metadata.canary)
        expect(sides).toHaveLength(4)
        expect(new Set(sides).size).toBe(1)
        if (sides[0] === 'true') atCanaries++
      }
      // Four standard deviations of a binomial share of 30 %.
      expect(Math.abs(atCanaries - 120)).toBeLessThan(4 * Math.sqrt(400 * 0.3 * 0.7))
    },
  )

  it('of a plan stay on the side of a canary split too', () => {
    const instances = Array.from({ length: 8 }, (_, i) => ({
      url: `http://h${i}:1`,
      metadata: { canary: String(i < 4) },
    }))
    const { service } = make([ok], { instances, suppliers: [canary({ percent: 50 })] })
    for (let i = 0; i < 200; i++) {
      const sides = Array.from(service.plan({}, { attempts: 4 }), ({ instance }) => instance.metadata.canary)
      expect(sides).toHaveLength(4)
      expect(new Set(sides).size).toBe(1)
    }
  })

  it('avoid what this very call has tried, whatever others try meanwhile', async () => {
    const { lb, service, sent } = make([() => new Promise((_, reject) => setTimeout(() => reject(refused()), 0))], {
      instances: ['http://a:1', 'http://b:1', 'http://c:1', 'http://d:1'],
      retry: { maxRetriesOnNextServiceInstance: 3 },
    })
    const calls = Array.from({ length: 20 }, () => lb.fetch('http://s/').catch((error) => error))
    const errors = await Promise.all(calls)
    for (const error of errors) {
      expect(new Set(attemptsOf(error).map(({ instance }) => instance.host)).size).toBe(4)
    }
    expect(sent).toHaveLength(80)
    expect(service.stats().retriesNext).toBe(60)
  })

  it('go back to the whole list where a supplier leaves only the one that was tried', async () => {
    const onlyA: Supplier = { name: 'only-a', filter: (list) => list.slice(0, 1) }
    const { lb, hosts } = make([refused(), ok], { suppliers: [onlyA] })
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(hosts()).toMatch(/^a[bc]$/)
  })

  it('are one for GET, HEAD and OPTIONS unless told otherwise, and say so', () => {
    expect(make([ok]).service.options().retry).toEqual({
      from: 'default',
      value: {
        maxRetriesOnSameServiceInstance: 0,
        maxRetriesOnNextServiceInstance: 1,
        retryOnAllOperations: false,
        methods: ['GET', 'HEAD', 'OPTIONS'],
        statusCodes: [],
        backoff: false,
        avoidPreviousInstance: true,
      },
    })
  })

  it('of all operations, if told so', async () => {
    const { lb, sent } = make([refused()], { retry: { retryOnAllOperations: true } })
    await expect(lb.fetch('http://s/', { method: 'POST' })).rejects.toThrow()
    expect(sent).toHaveLength(2)
  })

  it('not for errors that are no connection failures, unless told so', async () => {
    const odd = new TypeError('invalid header')
    const plain = make([odd])
    await expect(plain.lb.fetch('http://s/')).rejects.toBe(odd)
    expect(plain.sent).toHaveLength(1)
    const told = make([odd, ok], { retry: { exceptions: (error) => error === odd } })
    expect((await told.lb.fetch('http://s/')).status).toBe(200)
  })

  it('of listed statuses, the last response returned whatever it is', async () => {
    const busy = () => Promise.resolve(new Response('busy', { status: 503 }))
    const { lb, hosts, idle } = make([busy], { retry: { statusCodes: [503] } })
    const response = await lb.fetch('http://s/')
    expect([response.status, await response.text(), hosts()]).toEqual([503, 'busy', 'ac'])
    expect(attemptsOf(response)).toHaveLength(2)
    expect(idle()).toBe(true)
  })

  it('of a status, with nobody left to ask: the last response is returned', async () => {
    const { lb, service, sent } = make(
      [
        () => {
          service.update([])
          return Promise.resolve(new Response('busy', { status: 503 }))
        },
      ],
      { retry: { statusCodes: [503] } },
    )
    const response = await lb.fetch('http://s/')
    expect([response.status, await response.text(), sent.length, attemptsOf(response).length]).toEqual([
      503,
      'busy',
      1,
      1,
    ])
  })

  it('of the same instance, when it has left: on the next', async () => {
    const { lb, service, hosts } = make(
      [
        () => {
          service.update(['http://z:1'])
          return Promise.reject(refused())
        },
        ok,
      ],
      { retry: { maxRetriesOnSameServiceInstance: 1 } },
    )
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(hosts()).toBe('az')
  })

  it('end with the real error when the service is removed meanwhile', async () => {
    const failure = refused()
    const { lb } = make(
      [
        async () => {
          await lb.remove('s')
          throw failure
        },
      ],
      { retry: { backoff: { minMs: 1 } } },
    )
    const error = await lb.fetch('http://s/').catch((caught) => caught)
    expect(error).toBe(failure)
    expect(attemptsOf(error)).toHaveLength(1)
  })

  it('may go back to the same instance, if one call wants that', async () => {
    const { lb, sent } = make([refused()], {
      instances: ['http://a:1', 'http://b:1'],
      policy: roundRobin({ start: -1 }),
    })
    await expect(
      lb.with({ retry: { avoidPreviousInstance: false, maxRetriesOnNextServiceInstance: 3 } }).fetch('http://s/'),
    ).rejects.toThrow()
    expect(sent.map(({ url }) => new URL(url).host)).toEqual(['a:1', 'b:1', 'a:1', 'b:1'])
  })

  it('for one call only', async () => {
    const { lb, sent } = make([refused()])
    await expect(lb.with({ retry: false }).fetch('http://s/')).rejects.toThrow()
    expect(sent).toHaveLength(1)
    await expect(lb.with({ retry: { maxRetriesOnNextServiceInstance: 2 } }).fetch('http://s/')).rejects.toThrow()
    expect(sent).toHaveLength(4)
  })

  it('with a pause in between, where asked for', async () => {
    const { lb, hosts } = make([refused(), ok], { retry: { backoff: { minMs: 1, maxMs: 2, jitter: 1 } } })
    await lb.fetch('http://s/')
    expect(hosts()).toBe('ac')
  })
})

describe('time limits and aborts', () => {
  /** A request that ends only by its signal. */
  const hang = (init: RequestInit | undefined) =>
    new Promise<Response>((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))

  it('an attempt that takes too long moves on to another instance', async () => {
    const { lb, service, sent, idle } = make([() => hang(sent.at(-1)?.init), ok], { attemptTimeoutMs: 10 })
    const response = await lb.fetch('http://s/')
    expect(response.status).toBe(200)
    expect(attemptsOf(response)[0]?.error).toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
    expect(service.stats().instances.map(({ failures }) => failures)).toEqual([1, 0, 0])
    expect(idle()).toBe(true)
  })

  it('an attempt that takes too long says so, whatever the transport makes of the abort', async () => {
    const aborts = (init: RequestInit | undefined) =>
      new Promise<Response>((_, reject) =>
        init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))),
      )
    const { lb, sent } = make([() => aborts(sent.at(-1)?.init)], { attemptTimeoutMs: 5, retry: false })
    await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
  })

  describe('of a transport or fetcher that ignores its signal', () => {
    /** Answers when told to, whatever signal it was given. */
    function deaf() {
      const answers: { resolve(response: Response): void; reject(error: Error): void }[] = []
      const send = () => new Promise<Response>((resolve, reject) => void answers.push({ resolve, reject }))
      return { send, answers }
    }

    it('a time limit ends the attempt, another instance answers', async () => {
      const { lb, service, hosts, idle } = make([deaf().send, ok], { attemptTimeoutMs: 5 })
      const response = await lb.fetch('http://s/')
      expect(attemptsOf(response)[0]?.error).toMatchObject({ code: 'EVENKEEL_TIMEOUT', option: 'attemptTimeoutMs' })
      expect(service.stats().instances.map(({ failures }) => failures)).toEqual([1, 0, 0])
      expect([hosts(), idle()]).toEqual(['ac', true])
    })

    it('one of the call ends it at a binding, through a lease too', async () => {
      const { send } = deaf()
      const { lb, service, idle } = make([ok], {
        instances: [{ instanceId: 'app', fetcher: { fetch: send } }],
        timeoutMs: 5,
      })
      const timedOut = { code: 'EVENKEEL_TIMEOUT', option: 'timeoutMs' }
      await expect(lb.fetch('http://s/')).rejects.toMatchObject(timedOut)
      await expect(service.pick()?.fetch('/')).rejects.toMatchObject(timedOut)
      expect(idle()).toBe(true)
    })

    it.each([{}, { timeoutMs: 1_000, attemptTimeoutMs: 1_000 }])(
      'an abort cancels the call (limits: %j)',
      async (limits) => {
        const { lb, service, idle } = make([deaf().send], limits)
        const stop = new AbortController()
        const call = lb.fetch(new Request('http://s/', { signal: stop.signal }))
        const reason = new Error('the user left')
        stop.abort(reason)
        await expect(call).rejects.toBe(reason)
        expect(service.stats().instances[0]).toMatchObject({ cancelled: 1, failures: 0 })
        expect(idle()).toBe(true)
      },
    )

    it('what comes later is given up: a body is cancelled, an error is nobody’s', async () => {
      const { send, answers } = deaf()
      const { lb, service } = make([send], { timeoutMs: 5 })
      await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
      await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
      const cancel = vi.fn()
      answers[0]?.resolve(new Response(new ReadableStream({ cancel })))
      answers[1]?.reject(refused())
      await vi.waitUntil(() => cancel.mock.calls.length > 0)
      expect(service.stats().instances.map(({ successes, failures }) => [successes, failures])).toEqual([
        [0, 1],
        [0, 1],
        [0, 0],
      ])
    })
  })

  it('calls under one signal share one listener on it, and leave none', async () => {
    const settle: (() => void)[] = []
    const { lb } = make([() => new Promise((resolve) => settle.push(() => resolve(ok.clone())))])
    const { signal } = new AbortController()
    const calls = Array.from({ length: 20 }, () => lb.fetch('http://s/', { signal }))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    for (const end of settle) end()
    await Promise.all(calls)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('an instance that swallows packets costs a second, then the next one answers', async () => {
    vi.useFakeTimers()
    const { lb, sent, idle } = make([() => hang(sent.at(-1)?.init), ok], { attemptTimeoutMs: 1_000 })
    const call = lb.fetch('http://s/')
    await vi.advanceTimersByTimeAsync(999)
    expect(sent).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(attemptsOf(await call).map(({ instance }) => instance.host)).toEqual(['a', 'c'])
    expect(idle()).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  it('a call that takes too long ends, whatever retries are left', async () => {
    const { lb, sent, idle } = make([() => hang(sent.at(-1)?.init)], { timeoutMs: 10 })
    await expect(lb.fetch('http://s/')).rejects.toMatchObject({
      code: 'EVENKEEL_TIMEOUT',
      message: 'a call of "s" took longer than 10 ms (timeoutMs)',
      option: 'timeoutMs',
    })
    expect(sent).toHaveLength(1)
    expect(idle()).toBe(true)
    await expect(lb.with({ timeoutMs: 5 }).fetch('http://s/')).rejects.toMatchObject({
      message: 'a call of "s" took longer than 5 ms (timeoutMs)',
    })
  })

  it('an aborted call is cancelled: neither failure nor retried, its reason unchanged', async () => {
    const { lb, service, sent, idle } = make([() => hang(sent.at(-1)?.init)])
    const controller = new AbortController()
    const call = lb.fetch('http://s/', { signal: controller.signal })
    const reason = new Error('the user left')
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    expect(sent).toHaveLength(1)
    expect(service.stats().instances[0]).toMatchObject({ cancelled: 1, failures: 0 })
    expect(idle()).toBe(true)
  })

  it('a time limit that ends a pause tells the attempts before it', async () => {
    const { lb } = make([refused()], { timeoutMs: 10, retry: { backoff: { minMs: 1_000 } } })
    const error = await lb.fetch('http://s/').catch((caught) => caught)
    expect(error).toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
    expect(attemptsOf(error)).toHaveLength(1)
  })

  it('a bad argument that the transport refuses later is not the fault of the instance', async () => {
    const { lb, service } = make([new TypeError('Headers.append: "a b" is an invalid header name.')], {
      policy: 'peak-ewma',
    })
    await expect(lb.fetch('http://s/')).rejects.toThrow(TypeError)
    const [used] = service.stats().instances.filter(({ picks }) => picks > 0)
    expect(used).toMatchObject({ cancelled: 1, failures: 0, latencyMs: Number.NaN })
  })

  it('what a call leaves undefined comes from its request', async () => {
    const { lb, sent } = make([ok])
    const request = new Request('http://s/', { headers: { a: 'b' }, redirect: 'manual' })
    await lb.fetch(request, { signal: undefined as never, redirect: 'error' })
    const init = sent[0]?.init as RequestInit
    expect([new Headers(init.headers).get('a'), init.redirect, init.signal]).toEqual(['b', 'error', request.signal])
  })

  it('a null signal detaches a call from the signal of its request', async () => {
    const { lb, sent } = make([ok], { timeoutMs: 1_000 })
    const request = new Request('http://s/', { signal: AbortSignal.abort() })
    expect((await lb.fetch(request, { signal: null })).status).toBe(200)
    expect(sent[0]?.init?.signal?.aborted).toBe(false)
  })

  it('what never left is not the fault of the instance', async () => {
    const { lb, service } = make([ok])
    const used = new Request('http://s/', { method: 'POST', body: 'x' })
    await used.text()
    await expect(lb.fetch(used)).rejects.toThrow(TypeError)
    expect(service.stats().instances[0]).toMatchObject({ cancelled: 1, failures: 0, inFlight: 0 })
  })
})

describe("release: 'body'", () => {
  const streaming = () =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new TextEncoder().encode('x'))
            if (++pulls === 3) controller.close()
          },
        }),
      ),
    )
  let pulls = 0

  it('counts in flight until the body is read', async () => {
    pulls = 0
    const { lb, service, idle } = make([streaming], { release: 'body' })
    const response = await lb.fetch('http://s/')
    expect(idle()).toBe(false)
    expect(await response.text()).toBe('xxx')
    expect(idle()).toBe(true)
    expect(service.stats().instances[0]).toMatchObject({ successes: 1 })
  })

  it('or given up', async () => {
    pulls = -100
    const { lb, service, idle } = make([streaming], { release: 'body' })
    const response = await lb.fetch('http://s/')
    await response.body?.cancel()
    expect(idle()).toBe(true)
    expect(service.stats().instances[0]).toMatchObject({ cancelled: 1 })
  })

  it('or broken off', async () => {
    const broken = new Error('reset')
    const { lb, service, idle } = make(
      [() => Promise.resolve(new Response(new ReadableStream({ pull: (controller) => controller.error(broken) })))],
      { release: 'body' },
    )
    const response = await lb.fetch('http://s/')
    await expect(response.text()).rejects.toBe(broken)
    expect(idle()).toBe(true)
    expect(service.stats().instances[0]).toMatchObject({ failures: 1 })
  })

  it('or aborted, though nobody reads it', async () => {
    pulls = -100
    const { lb, service, idle } = make([streaming], { release: 'body' })
    const controller = new AbortController()
    await lb.fetch('http://s/', { signal: controller.signal })
    controller.abort()
    expect(idle()).toBe(true)
    expect(service.stats().instances[0]).toMatchObject({ cancelled: 1 })
  })

  it('under one listener on the signal, however many are unread; none when all are read', async () => {
    pulls = -1_000
    const { lb, service, idle } = make([streaming], { release: 'body' })
    const stop = new AbortController()
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => lb.fetch('http://s/', { signal: stop.signal })),
    )
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
    for (const response of responses.slice(0, 20)) await response.body?.cancel()
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
    stop.abort()
    expect(idle()).toBe(true)
    expect(service.stats().instances.reduce((sum, { cancelled }) => sum + cancelled, 0)).toBe(50)
    pulls = 0
    const { signal } = new AbortController()
    await (await lb.fetch('http://s/', { signal })).text()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('or absent', async () => {
    const { lb, idle } = make([() => Promise.resolve(new Response(null, { status: 204 }))], { release: 'body' })
    await lb.fetch('http://s/')
    expect(idle()).toBe(true)
  })
})

it('a call to many instances under random failures and aborts leaves nothing in flight', async () => {
  let state = 42
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const answers = Array.from({ length: 400 }, () => () => {
    const draw = random()
    if (draw < 0.2) return Promise.reject(refused())
    if (draw < 0.3) return Promise.reject(new Error('odd'))
    return Promise.resolve(new Response('x', { status: draw < 0.5 ? 503 : 200 }))
  })
  const { lb, service, idle } = make(answers, {
    policy: 'peak-ewma',
    retry: { statusCodes: [503], maxRetriesOnSameServiceInstance: 1 },
  })
  const calls = Array.from({ length: 200 }, (_, i) => {
    const controller = new AbortController()
    if (i % 7 === 0) controller.abort()
    return lb.fetch('http://s/', { signal: controller.signal }).then(
      () => {},
      () => {},
    )
  })
  await Promise.all(calls)
  expect(idle()).toBe(true)
  const total = service
    .stats()
    .instances.reduce(
      (sum, { picks, successes, failures, cancelled }) => sum + picks - successes - failures - cancelled,
      0,
    )
  expect(total).toBe(0)
})
