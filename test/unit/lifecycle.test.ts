import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createLoadBalancer,
  type FetchLike,
  type Lifecycle,
  type LoadBalancerOptions,
  roundRobin,
  type ServiceInstance,
  type ServiceOptions,
  type Supplier,
} from '../../bindings/index.js'
import { AsyncScope } from '../../bindings/runtime/async-scope.js'

type Told = Parameters<NonNullable<Lifecycle['onComplete']>>[0]

const refused = () =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })
const ok = () => Promise.resolve(new Response('ok'))
const fails = () => Promise.reject(refused())

/** A balancer over scripted answers, that of the last one for ever, and all that its observer hears, in order. */
function observed(
  answers: FetchLike[],
  options: Partial<ServiceOptions> = {},
  balancer: Partial<LoadBalancerOptions> = {},
) {
  const time = { now: 0 }
  const heard: [keyof Lifecycle, Told & { candidates?: number; selectionMs?: number }][] = []
  const hear = (moment: keyof Lifecycle) => (event: object) => void heard.push([moment, event as Told])
  const observer: Lifecycle = {
    onStart: hear('onStart'),
    onStartRequest: hear('onStartRequest'),
    onComplete: hear('onComplete'),
  }
  let sent = 0
  const lb = createLoadBalancer({
    clock: () => time.now,
    seed: 1,
    fetch: (input, init) => (answers[Math.min(sent++, answers.length - 1)] as FetchLike)(input, init),
    lifecycle: [observer],
    ...balancer,
    services: {
      s: { instances: ['http://a:1', 'http://b:1', 'http://c:1'], policy: roundRobin({ start: -1 }), ...options },
    },
  })
  /** Each event in short: what, which attempt, where, how. */
  const story = () =>
    heard.map(([moment, { attempt, instance, status }]) =>
      [moment.slice(2), attempt, instance?.host, status].filter((part) => part !== undefined).join(' '),
    )
  const completed = () => heard.filter(([moment]) => moment === 'onComplete').map(([, event]) => event)
  return { lb, service: lb.service('s'), time, heard, story, completed, sentCount: () => sent }
}

const hosts = (instances: readonly ServiceInstance[]) => instances.map(({ host }) => host).join('')

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe('a call is told', () => {
  it('before the selection, before it is sent, and when it has been answered, whatever the status', async () => {
    const answer = new Response('', { status: 500 })
    const { lb, time, heard, story } = observed([() => ((time.now += 7), Promise.resolve(answer))])
    await lb.fetch('http://s/x?y', { method: 'PUT' })
    expect(story()).toEqual(['Start 1', 'StartRequest 1', 'Complete 1 a SUCCESS'])
    expect(heard[0]?.[1]).toMatchObject({ serviceId: 's', request: { method: 'PUT', url: 'http://s/x?y' } })
    expect(heard[1]?.[1]).toMatchObject({ lease: { instance: { host: 'a' } }, candidates: 3, selectionMs: 0 })
    expect(heard[2]?.[1]).toMatchObject({ response: answer, durationMs: 7, previous: [] })
    expect(heard[2]?.[1].response).toBe(answer)
    expect(heard[2]?.[1]).not.toHaveProperty('error')
  })

  it('attempt by attempt, with what was tried before', async () => {
    const { lb, story, completed, heard } = observed([fails, ok])
    await lb.fetch('http://s/')
    expect(story()).toEqual([
      'Start 1',
      'StartRequest 1',
      'Complete 1 a FAILED',
      'Start 2',
      'StartRequest 2',
      'Complete 2 c SUCCESS',
    ])
    expect(completed()[0]?.error).toMatchObject({ message: 'fetch failed' })
    expect(completed().map(({ previous }) => hosts(previous))).toEqual(['', 'a'])
    expect(heard.map(([, { request }]) => hosts(request.previous ?? []))).toEqual(['', '', '', 'a', 'a', 'a'])
    expect(heard[4]?.[1].candidates).toBe(2)
  })

  it('without a start where the same instance is tried again: nothing is selected', async () => {
    const { lb, story, heard } = observed([fails, fails, ok], { retry: { maxRetriesOnSameServiceInstance: 1 } })
    await lb.fetch('http://s/')
    expect(story()).toEqual([
      'Start 1',
      'StartRequest 1',
      'Complete 1 a FAILED',
      'StartRequest 2',
      'Complete 2 a FAILED',
      'Start 3',
      'StartRequest 3',
      'Complete 3 c SUCCESS',
    ])
    expect(heard[3]?.[1]).toMatchObject({ candidates: 1, selectionMs: 0 })
  })

  it('without a start where the lease is the caller’s own', async () => {
    const { service, story, completed } = observed([ok])
    const previous = service.instances().slice(2)
    await service.pick({ key: 'k', previous })?.fetch('/x')
    expect(story()).toEqual(['StartRequest 1', 'Complete 1 a SUCCESS'])
    expect(completed()[0]).toMatchObject({ request: { key: 'k', method: 'GET', url: '/x' }, previous })
  })

  it('with the attempt and the hint of the lease, where that is one of a plan', async () => {
    const { service, completed } = observed([fails, fails, ok], { hints: { s: 'configured' } })
    for (const lease of service.plan({ hint: 'own' })) await lease.fetch('/x').catch(() => {})
    expect(completed().map(({ attempt, request }) => [attempt, request.hint])).toEqual([
      [1, 'own'],
      [2, 'own'],
      [3, 'own'],
    ])
    expect(completed().map(({ previous }) => previous.length)).toEqual([0, 1, 2])
    await service.pick()?.fetch('/x')
    expect(completed()[3]?.request.hint).toBe('configured')
  })

  it('with a retryable status as a success, before it is tried again', async () => {
    const { lb, story } = observed([() => Promise.resolve(new Response('', { status: 503 })), ok], {
      retry: { statusCodes: [503] },
    })
    await lb.fetch('http://s/')
    expect(story()).toEqual([
      'Start 1',
      'StartRequest 1',
      'Complete 1 a SUCCESS',
      'Start 2',
      'StartRequest 2',
      'Complete 2 c SUCCESS',
    ])
  })

  it('as discarded, once and never sent, where there is no instance', async () => {
    const throwing = observed([ok], { instances: [] })
    await expect(throwing.lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_NO_INSTANCE' })
    expect(throwing.story()).toEqual(['Start 1', 'Complete 1 DISCARD'])
    expect(throwing.completed()[0]?.error).toMatchObject({ code: 'EVENKEEL_NO_INSTANCE' })
    const answering = observed([ok], { instances: [], noInstance: 'response' })
    const response = await answering.lb.fetch('http://s/')
    expect(answering.story()).toEqual(['Start 1', 'Complete 1 DISCARD'])
    expect(answering.completed()[0]?.response).toBe(response)
  })

  it('as discarded where a retry finds no instance', async () => {
    const { lb, service, story } = observed([() => (service.update([]), fails())])
    await expect(lb.fetch('http://s/')).rejects.toThrow('fetch failed')
    expect(story()).toEqual(['Start 1', 'StartRequest 1', 'Complete 1 a FAILED', 'Start 2', 'Complete 2 DISCARD'])
  })

  it('as discarded where discovery gives no first list, and the wait for one is selection', async () => {
    const silent = observed([ok], {
      instances: undefined as never,
      discovery: { name: 'down', get: () => Promise.reject(new Error('down')) },
    })
    await expect(silent.lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    expect(silent.story()).toEqual(['Start 1', 'Complete 1 DISCARD'])
    expect(silent.service.stats().noInstance).toBe(1)

    const slow = observed([ok], {
      instances: undefined as never,
      discovery: { name: 'slow', get: async () => ((slow.time.now += 30), ['http://a:1', 'http://b:1']) },
    })
    await slow.lb.fetch('http://s/')
    expect(slow.story()).toEqual(['Start 1', 'StartRequest 1', 'Complete 1 a SUCCESS'])
    expect(slow.heard[1]?.[1]).toMatchObject({ candidates: 2, selectionMs: 30 })
    expect(slow.service.stats().selectionMs).toBe(30)
  })

  it('as failed where the selection throws', async () => {
    const mistake = new Error('mistake')
    const throwing: Supplier = {
      name: 'throwing',
      filter() {
        throw mistake
      },
    }
    const { lb, story, completed } = observed([ok], { suppliers: [throwing] })
    await expect(lb.fetch('http://s/')).rejects.toBe(mistake)
    expect(story()).toEqual(['Start 1', 'Complete 1 FAILED'])
    expect(completed()[0]).toMatchObject({ error: mistake, previous: [] })
    expect(completed()[0]).not.toHaveProperty('instance')
  })

  it('as failed where a time limit ends an attempt', async () => {
    vi.useFakeTimers()
    const hangs: FetchLike = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    const { lb, story, completed } = observed([hangs, ok], { attemptTimeoutMs: 1_000 })
    const call = lb.fetch('http://s/')
    await vi.advanceTimersByTimeAsync(999)
    expect(story()).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect((await call).status).toBe(200)
    expect(story().slice(2)).toEqual(['Complete 1 a FAILED', 'Start 2', 'StartRequest 2', 'Complete 2 c SUCCESS'])
    expect(completed()[0]?.error).toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
  })

  it('as cancelled where the caller gave up: while it was sent, or while it waited for a list', async () => {
    const hangs: FetchLike = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    for (const waiting of [
      observed([hangs]),
      observed([ok], { instances: undefined as never, discovery: { name: 'never', get: () => new Promise(() => {}) } }),
    ]) {
      const stop = new AbortController()
      const call = waiting.lb.fetch('http://s/', { signal: stop.signal })
      stop.abort(new Error('left'))
      await expect(call).rejects.toThrow('left')
      expect(waiting.completed()).toMatchObject([{ status: 'CANCELLED', error: { message: 'left' } }])
      await waiting.lb.close()
    }
  })

  it('as failed where the transport answers with no Response, and the gauge goes down', async () => {
    const { lb, service, story, completed } = observed([() => Promise.resolve(undefined as never)], { metrics: {} })
    await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG' })
    expect(story()).toEqual(['Start 1', 'StartRequest 1', 'Complete 1 a FAILED'])
    expect(completed()[0]?.error).toMatchObject({ option: 'fetch' })
    const active = service.stats().meters.find(({ name }) => name === 'loadbalancer.requests.active')
    expect(active?.count).toBe(0)
  })

  it('as discarded where the supplier that left nobody throws when it is asked why', async () => {
    let asked = 0
    const filter = () => {
      if (asked++ > 0) throw new Error('asked again')
      return []
    }
    const { lb, story } = observed([ok], { suppliers: [{ name: 'moody', filter }] })
    await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_NO_INSTANCE' })
    expect(story()).toEqual(['Start 1', 'Complete 1 DISCARD'])
  })

  it('once, where a response can’t be read', async () => {
    const odd = Object.defineProperty(new Response('x'), 'body', {
      get() {
        throw new Error('no body here')
      },
    })
    const { lb, story } = observed([() => Promise.resolve(odd)], { release: 'body' })
    await expect(lb.fetch('http://s/')).rejects.toThrow('no body here')
    expect(story()).toEqual(['Start 1', 'StartRequest 1', 'Complete 1 a FAILED'])
  })

  it('as failed where the call itself can’t be sent, and nothing is left in flight', async () => {
    const { lb, service, story } = observed([
      () => {
        throw new TypeError('odd')
      },
    ])
    await expect(lb.fetch('http://s/')).rejects.toThrow('odd')
    expect(story()).toEqual(['Start 1', 'StartRequest 1', 'Complete 1 a FAILED'])
    expect(service.stats().instances[0]).toMatchObject({ inFlight: 0, cancelled: 1 })
  })
})

describe('quirks', () => {
  it('cancelled-not-completed, choose-error-not-completed, retry-hides-previous', async () => {
    const hangs: FetchLike = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    const cancelled = observed([hangs], {}, { compat: ['cancelled-not-completed'] })
    await expect(cancelled.lb.fetch('http://s/', { signal: AbortSignal.timeout(0) })).rejects.toThrow()
    expect(cancelled.story()).toEqual(['Start 1', 'StartRequest 1'])

    const policy = {
      name: 'throwing',
      pick() {
        throw new Error('mistake')
      },
    }
    const unchosen = observed([ok], { policy }, { compat: ['choose-error-not-completed'] })
    await expect(unchosen.lb.fetch('http://s/')).rejects.toThrow('mistake')
    expect(unchosen.story()).toEqual(['Start 1'])

    const hiding = observed([fails, ok], {}, { compat: ['retry-hides-previous'] })
    await hiding.lb.fetch('http://s/')
    expect(hiding.completed().map(({ previous }) => hosts(previous))).toEqual(['', ''])
    expect(hiding.heard.map(([, { request }]) => hosts(request.previous ?? []))).toEqual(['', '', '', 'a', '', ''])
  })
})

describe('observers', () => {
  it('are called in their order, and one that throws or rejects is reported once and breaks nothing', async () => {
    const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
    const order: string[] = []
    const { lb } = observed(
      [ok],
      {},
      {
        lifecycle: [
          {
            onStart() {
              order.push('first')
              throw new Error('thrown')
            },
          },
          {
            async onStart() {
              order.push('second')
              throw new Error('rejected')
            },
          },
          { onStart: () => void order.push('third') },
        ],
      },
    )
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(order).toEqual(['first', 'second', 'third', 'first', 'second', 'third'])
    expect(complaints.mock.calls.map(([what, error]) => [what, (error as Error).message])).toEqual([
      ["evenkeel: lifecycle observer's onStart threw", 'thrown'],
      ["evenkeel: lifecycle observer's onStart threw", 'rejected'],
    ])
  })

  it.each(['throws', 'rejects'])(
    'beside them a policy’s done and metrics.tags that %s are reported once',
    async (how) => {
      const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
      const mistake = (): never => {
        const error = new Error('mistake')
        if (how === 'rejects') return Promise.reject(error) as never
        throw error
      }
      const policy = { name: 'own', pick: () => 0, done: () => mistake() }
      const { lb, service } = observed([ok], { policy, metrics: { tags: () => mistake() } })
      for (let i = 0; i < 2; i++) expect((await lb.fetch('http://s/')).status).toBe(200)
      await new Promise((resolve) => setImmediate(resolve))
      expect(complaints.mock.calls.map(([what]) => what).sort()).toEqual([
        'evenkeel: metrics.tags threw',
        'evenkeel: policy "own" threw',
      ])
      expect(service.stats().instances[0]).toMatchObject({ inFlight: 0, successes: 2 })
      expect(service.stats().meters.map(({ count }) => count)).toEqual([0, 2])
    },
  )

  it('are called on their own object', async () => {
    class Counting implements Lifecycle {
      count = 0
      onStart() {
        this.count++
      }
    }
    const counting = new Counting()
    await observed([ok], {}, { lifecycle: [counting] }).lb.fetch('http://s/')
    expect(counting.count).toBe(1)
  })

  it('are not told of the calls that they make themselves, at once or after awaits', async () => {
    const inner: Promise<unknown>[] = []
    let heard = 0
    const { lb, sentCount } = observed(
      [ok],
      {},
      {
        lifecycle: [
          {
            async onComplete() {
              heard++
              inner.push(lb.fetch('http://s/at-once'))
              await Promise.resolve()
              await new Promise((resolve) => setTimeout(resolve, 0))
              inner.push(lb.fetch('http://s/later'))
            },
          },
        ],
      },
    )
    await lb.fetch('http://s/')
    await vi.waitUntil(() => inner.length === 2)
    await Promise.all(inner)
    expect([heard, sentCount()]).toEqual([1, 3])
    await lb.fetch('http://s/')
    await vi.waitUntil(() => inner.length === 4)
    expect(heard).toBe(2)
  })

  it('are told of calls that merely run while one of them awaits', async () => {
    let heard = 0
    const { lb } = observed([ok], {}, { lifecycle: [{ onStart: async () => void heard++ }] })
    await Promise.all([lb.fetch('http://s/'), lb.fetch('http://s/')])
    expect(heard).toBe(2)
  })

  it('without them no call reads the clock more often than it did', async () => {
    let reads = 0
    const clock = () => ++reads
    const lb = createLoadBalancer({ clock, fetch: ok, services: { s: ['http://a:1'] } })
    await lb.fetch('http://s/')
    reads = 0
    await lb.fetch('http://s/')
    // Sent, answered, averaged.
    expect(reads).toBe(3)
  })
})

describe('the scope of an observer', () => {
  it('ends with its synchronous part where the runtime has no AsyncLocalStorage', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
    const scope = new AsyncScope()
    const seen: boolean[] = []
    await scope.run(async () => {
      seen.push(scope.entered)
      await Promise.resolve()
      seen.push(scope.entered)
    })
    expect([...seen, scope.entered]).toEqual([true, false, false])
  })

  it('takes the global one where there is no built-in module', async () => {
    const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks')
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
    vi.stubGlobal('AsyncLocalStorage', AsyncLocalStorage)
    const scope = new AsyncScope()
    const later = scope.run(async () => {
      await Promise.resolve()
      return scope.entered
    })
    expect([await later, scope.entered]).toEqual([true, false])
    vi.unstubAllGlobals()
  })
})
