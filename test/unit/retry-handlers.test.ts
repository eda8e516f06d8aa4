/** Which failures are tried again, where, and which trip a breaker: Ribbon's classes in terms of fetch. */

import { describe, expect, it, vi } from 'vitest'
import {
  attemptsOf,
  createLoadBalancer,
  type FetchLike,
  isCircuitTripping,
  isConnectionError,
  type Outcome,
  type RetryFailure,
  type RetryHandler,
  type RetryHandlerName,
  type RetryOptions,
  retryHandler,
  type ServiceOptions,
  TimeoutError,
} from '../../bindings/index.js'
import { type ConnectionFailure, connectionFailureOf } from '../../bindings/runtime/connection-errors.js'

const node = (code: string, rest: object = {}) => new TypeError('fetch failed', { cause: { code, ...rest } })
const worded = (message: string) => new TypeError('error sending request', { cause: new Error(message) })

const ERRORS: Record<string, [error: unknown, kind: ConnectionFailure | undefined]> = {
  'Node: refused': [node('ECONNREFUSED'), 'refused'],
  'Node: unresolved': [node('ENOTFOUND'), 'unresolved'],
  'Node: unreachable': [node('EHOSTUNREACH', { syscall: 'connect' }), 'unreachable'],
  'Node: unreachable while reading': [node('EHOSTUNREACH', { syscall: 'read' }), 'reset'],
  'Node: no address': [node('EADDRNOTAVAIL', { syscall: 'connect' }), 'unreachable'],
  'Node: reset': [node('ECONNRESET', { syscall: 'read' }), 'reset'],
  'Node: reset while connecting': [node('ECONNRESET', { syscall: 'connect' }), 'refused'],
  'Node: broken pipe': [node('EPIPE', { syscall: 'write' }), 'reset'],
  'Node: closed': [node('UND_ERR_SOCKET'), 'closed'],
  'Node: connect timeout': [node('UND_ERR_CONNECT_TIMEOUT'), 'connect-timeout'],
  'Node: connect timeout of the system': [node('ETIMEDOUT', { syscall: 'connect' }), 'connect-timeout'],
  'Node: connect timeout of each address': [node('ETIMEDOUT', { errors: [{ syscall: 'connect' }] }), 'connect-timeout'],
  'Node: no acknowledgement': [node('ETIMEDOUT', { syscall: 'read' }), 'read-timeout'],
  'Node: no headers in time': [node('UND_ERR_HEADERS_TIMEOUT'), 'read-timeout'],
  'Node: no upstream in the pool': [node('UND_ERR_BPL_MISSING_UPSTREAM'), 'pool-timeout'],
  'Bun: refused': [Object.assign(new Error('x'), { code: 'ConnectionRefused' }), 'refused'],
  'Bun: closed': [Object.assign(new Error('x'), { code: 'ConnectionClosed' }), 'closed'],
  'Bun: timeout': [Object.assign(new Error('x'), { code: 'ConnectionTimeout' }), 'read-timeout'],
  'Deno: refused': [worded('client error (Connect): tcp connect error: Connection refused (os error 111)'), 'refused'],
  'Deno: unresolved': [worded('client error (Connect): dns error: failed to lookup address'), 'unresolved'],
  'Deno: connect timeout': [worded('client error (Connect): tcp connect error: x (os error 110)'), 'connect-timeout'],
  'Deno: unreachable': [worded('client error (Connect): tcp connect error: x (os error 113)'), 'unreachable'],
  'Deno: reset': [worded('client error (SendRequest): connection error: reset by peer (os error 104)'), 'reset'],
  'Deno: closed': [worded('connection closed before message completed'), 'closed'],
  workerd: [new Error('Network connection lost.'), 'unknown'],
  'a browser': [new TypeError('Failed to fetch'), 'unknown'],
  'anything else': [new Error('no'), undefined],
}

describe('how the connection failed', () => {
  it.each(Object.entries(ERRORS))('%s', (_, [error, kind]) => {
    expect(connectionFailureOf(error)).toBe(kind)
    expect(isConnectionError(error)).toBe(kind !== undefined && kind !== 'pool-timeout')
  })
})

/** What the kinds say, with `retryOnAllOperations`: same, next, trips. */
const TABLE: [failure: string, Record<'default' | 'http-client' | 'netty', string>][] = [
  ['Node: refused', { default: 'snt', 'http-client': 'snt', netty: 'snt' }],
  ['Node: unreachable', { default: '-nt', 'http-client': '-nt', netty: '-nt' }],
  ['Node: connect timeout', { default: 'snt', 'http-client': 'snt', netty: 'snt' }],
  ['Node: no headers in time', { default: 'snt', 'http-client': 'snt', netty: 'snt' }],
  ['Node: unresolved', { default: '-nt', 'http-client': '-nt', netty: '-nt' }],
  ['Node: reset', { default: '-nt', 'http-client': '-nt', netty: '-nt' }],
  ['Node: closed', { default: '-nt', 'http-client': 'snt', netty: '-nt' }],
  ['workerd', { default: '-nt', 'http-client': '-nt', netty: '-nt' }],
  ['Node: no upstream in the pool', { default: '-n-', 'http-client': 'sn-', netty: 'snt' }],
  ['anything else', { default: '-n-', 'http-client': '-n-', netty: '-n-' }],
]

const said = (handler: RetryHandler, failure: RetryFailure) =>
  (handler.retriable(failure, true) ? 's' : '-') +
  (handler.retriable(failure, false) ? 'n' : '-') +
  (handler.trips(failure) ? 't' : '-')

describe.each(['default', 'http-client', 'netty'] as const)('%s', (kind) => {
  const all = retryHandler({ kind, retryOnAllOperations: true })

  it.each(TABLE)('%s', (name, expected) => {
    const failure = { error: ERRORS[name]?.[0], method: 'POST' }
    expect(said(all, failure)).toBe(expected[kind])
    // Without the option nothing is retried, and the breaker hears of it all the same.
    expect(said(retryHandler({ kind }), failure)).toBe(`--${expected[kind].slice(2)}`)
  })

  it('a time limit of evenkeel is a read timeout', () => {
    expect(said(all, { error: new TimeoutError('late'), method: 'GET' })).toBe('snt')
  })

  it.each([
    [503, kind === 'default' ? '---' : '-nt'],
    [500, '---'],
    [404, '---'],
  ])('status %d', (status, expected) => {
    expect(said(all, { status, method: 'GET' })).toBe(expected)
  })
})

describe('rest-client', () => {
  const rest = retryHandler()
  const unsent = ['Node: refused', 'Node: unreachable', 'Node: unresolved', 'Node: connect timeout', 'Deno: refused']
  const maybeSent = ['Node: reset', 'Node: closed', 'Node: no headers in time', 'workerd', 'a browser', 'Bun: timeout']

  it.each(unsent)('%s: nothing was sent, so a POST is sent again', (name) => {
    expect(said(rest, { error: ERRORS[name]?.[0], method: 'POST' })).toBe('snt')
  })

  it.each(maybeSent)('%s: a POST may have been sent, a GET does no harm', (name) => {
    expect(said(rest, { error: ERRORS[name]?.[0], method: 'POST' })).toBe('--t')
    expect(said(rest, { error: ERRORS[name]?.[0], method: 'GET' })).toBe('snt')
    expect(said(retryHandler({ retryOnAllOperations: true }), { error: ERRORS[name]?.[0], method: 'POST' })).toBe('snt')
  })

  it('an instance that answers 503 is left: by a GET, and by a POST for another one only', () => {
    expect(said(rest, { status: 503, method: 'GET' })).toBe('snt')
    expect(said(rest, { status: 503, method: 'POST' })).toBe('-nt')
    expect(said(rest, { status: 500, method: 'GET' })).toBe('---')
  })

  it('any error of a GET is tried again, and trips nothing', () => {
    expect(said(rest, { error: new Error('no'), method: 'GET' })).toBe('sn-')
    expect(said(rest, { error: new Error('no'), method: 'PUT' })).toBe('---')
  })
})

describe('isCircuitTripping', () => {
  it.each([
    [{}, false],
    [{ status: 200 }, false],
    [{ status: 500 }, false],
    [{ status: 503 }, true],
    [{ status: 503, cancelled: true }, false],
    [{ error: node('ECONNRESET') }, true],
    [{ error: node('ECONNRESET'), cancelled: true }, false],
    [{ error: new TimeoutError('late') }, true],
    [{ error: node('UND_ERR_BPL_MISSING_UPSTREAM') }, false],
    [{ error: new Error('no') }, false],
  ])('%j', (outcome, expected) => {
    expect(isCircuitTripping(outcome)).toBe(expected)
  })
})

type Answer = number | Error

function setup(retry: RetryOptions, answers: (host: string, call: number) => Answer, options: ServiceOptions = {}) {
  const sent: string[] = []
  const bodies: string[] = []
  const fetch: FetchLike = async (input, init) => {
    const request = new Request(input as Request, init)
    const { hostname } = new URL(request.url)
    sent.push(hostname)
    bodies.push(await request.text())
    init?.signal?.throwIfAborted()
    const answer = answers(hostname, sent.length)
    if (answer instanceof Error) throw answer
    return new Response(answer === 304 ? null : 'x', { status: answer })
  }
  const lb = createLoadBalancer({
    fetch,
    seed: 1,
    services: {
      s: {
        instances: ['http://a:1', 'http://b:1', 'http://c:1'],
        policy: { name: 'first', pick: () => 0 },
        retry,
        ...options,
      },
    },
  })
  return { sent, bodies, lb }
}

const post = { method: 'POST', body: 'text' }

describe('retry.handler', () => {
  const handlers: RetryOptions['handler'][] = ['rest-client', { type: 'rest-client' }, retryHandler()]

  it.each(handlers)('decides what is sent again (%#)', async (handler) => {
    const { sent, bodies, lb } = setup({ handler: handler as RetryHandlerName }, (host) =>
      host === 'a' ? node('ECONNREFUSED') : 200,
    )
    expect((await lb.fetch('http://s/', post)).status).toBe(200)
    expect([sent.join(''), bodies]).toEqual(['ab', ['text', 'text']])
  })

  it('keeps the body of a Request, whatever its method', async () => {
    const { bodies, lb } = setup({ handler: 'rest-client' }, (host) => (host === 'a' ? node('ECONNREFUSED') : 200))
    await lb.fetch(new Request('http://s/', post))
    expect(bodies).toEqual(['text', 'text'])
  })

  it('does not send a POST again that may have been carried out', async () => {
    const error = node('ECONNRESET')
    const { sent, lb } = setup({ handler: 'rest-client' }, () => error)
    await expect(lb.fetch('http://s/', post)).rejects.toBe(error)
    expect(sent).toEqual(['a'])
  })

  it('tries (1, 2) as A A B B C C, and the error is the last of the transport', async () => {
    const { sent, lb } = setup(
      { handler: 'rest-client', maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 2 },
      (host, call) => Object.assign(node('ECONNREFUSED'), { host, call }),
    )
    const error = await lb.fetch('http://s/').catch((error: unknown) => error)
    expect(sent.join('')).toBe('aabbcc')
    expect(error).toMatchObject({ message: 'fetch failed', host: 'c', call: 6 })
    expect(attemptsOf(error)).toHaveLength(6)
  })

  it('may say next without the same', async () => {
    const { sent, lb } = setup(
      { handler: 'rest-client', maxRetriesOnSameServiceInstance: 3, maxRetriesOnNextServiceInstance: 2 },
      (host) => (host === 'c' ? 201 : 503),
    )
    expect((await lb.fetch('http://s/', post)).status).toBe(201)
    expect(sent.join('')).toBe('abc')
  })

  it('may say the same without next', async () => {
    const own: RetryHandler = { name: 'own', retriable: (_, same) => same, trips: () => false }
    const { sent, lb } = setup({ handler: own, maxRetriesOnSameServiceInstance: 2 }, () => 400)
    expect((await lb.fetch('http://s/')).status).toBe(400)
    expect(sent.join('')).toBe('aaa')
  })

  it('is told what failed, and not of what is below 400', async () => {
    const failures: RetryFailure[] = []
    const own: RetryHandler = {
      name: 'own',
      retriable: (failure) => failures.push(failure) > 0,
      trips: () => false,
    }
    const error = new Error('odd')
    const { lb } = setup({ handler: own, maxRetriesOnNextServiceInstance: 2 }, (_, call) =>
      call === 1 ? error : call === 2 ? 404 : 304,
    )
    await lb.fetch('http://s/', { method: 'delete' })
    expect(failures).toEqual([
      { error, method: 'DELETE', quirks: new Set() },
      { status: 404, method: 'DELETE', quirks: new Set() },
    ])
  })

  it('is never asked about what the caller aborted, nor about a bad argument', async () => {
    const asked: unknown[] = []
    const own: RetryHandler = { name: 'own', retriable: (failure) => asked.push(failure) > 0, trips: () => false }
    const abort = new AbortController()
    const { sent, lb } = setup({ handler: own }, () => {
      abort.abort()
      return node('ECONNREFUSED')
    })
    await expect(lb.fetch('http://s/', { signal: abort.signal })).rejects.toThrow()
    const bad = setup({ handler: own }, () => new TypeError('invalid header'))
    await expect(bad.lb.fetch('http://s/')).rejects.toThrow('invalid header')
    expect([sent.length, bad.sent.length, asked]).toEqual([1, 1, []])
  })

  it('of a call replaces that of its service', async () => {
    const { sent, lb } = setup({}, () => node('ECONNREFUSED'))
    await expect(lb.with({ retry: { handler: 'rest-client' } }).fetch('http://s/', post)).rejects.toThrow()
    expect(sent.join('')).toBe('ab')
  })

  it.each<[RetryOptions, string]>([
    [{ handler: 'apache' }, 'services.s.retry.handler'],
    [{ handler: { type: 'netty', retryOnAllOperations: 1 } }, 'services.s.retry.handler.retryOnAllOperations'],
    [{ handler: { name: 'own', retriable: () => true } as never }, 'services.s.retry.handler'],
    [{ handler: 'netty', statusCodes: [500] }, 'services.s.retry.statusCodes'],
    [{ handler: 'netty', methods: ['GET'] }, 'services.s.retry.methods'],
    [{ handler: 'netty', exceptions: () => true }, 'services.s.retry.exceptions'],
  ])('%j is refused', (retry, option) => {
    expect(() => setup(retry, () => 200)).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option }))
  })
})

describe('a handler that answers no yes or no', () => {
  it.each([
    ['a promise', () => Promise.resolve(true)],
    ['a rejected promise', () => Promise.reject(new Error('odd'))],
    ['text', () => 'yes'],
  ])('%s is a no', async (_, retriable) => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const own = { name: 'own', retriable: retriable as never, trips: () => false }
    const { sent, lb } = setup({ handler: own }, () => node('ECONNREFUSED'))
    await expect(lb.fetch('http://s/')).rejects.toThrow('fetch failed')
    expect(sent).toHaveLength(1)
    expect(error.mock.calls.length).toBe(_ === 'text' ? 0 : 1)
    error.mockRestore()
  })
})

it('an answer of the transport that is no response is never tried again', async () => {
  let sent = 0
  const lb = createLoadBalancer({
    fetch: () => ++sent as never,
    services: { s: { instances: ['http://a', 'http://b'], retry: { handler: 'rest-client' } } },
  })
  await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG' })
  expect(sent).toBe(1)
})

it.each([
  ['netty', 0],
  [{ type: 'netty', retryOnAllOperations: true }, 1],
  ['rest-client', 1],
] as const)('%j: the body of a request is kept %i times', async (handler, clones) => {
  const { lb } = setup({ handler }, () => 200)
  const request = new Request('http://s/', post)
  const clone = vi.spyOn(request, 'clone')
  await lb.fetch(request)
  expect(clone).toHaveBeenCalledTimes(clones)
})

describe('the breaker', () => {
  function failures(options: Partial<ServiceOptions>, ...outcomes: Outcome[]): number | undefined {
    const lb = createLoadBalancer({ services: { s: { instances: ['http://a'], serverStats: true, ...options } } })
    for (const outcome of outcomes) lb.pick('s')?.done(outcome)
    return lb.service('s').stats().instances[0]?.server?.connectionFailures
  }
  const noneFree = { error: node('UND_ERR_BPL_MISSING_UPSTREAM') }

  it("goes by the service's retry handler", () => {
    expect(failures({}, noneFree)).toBe(0)
    expect(failures({ retry: { handler: 'netty' } }, noneFree, noneFree)).toBe(2)
    expect(failures({ retry: { handler: 'default' } }, { status: 503 })).toBe(0)
  })

  it('asks the handler of failures only', () => {
    const asked: RetryFailure[] = []
    const own: RetryHandler = { name: 'own', retriable: () => false, trips: (failure) => asked.push(failure) > 0 }
    expect(failures({ retry: { handler: own } }, { status: 404 }, { status: 200 }, { cancelled: true })).toBe(0)
    expect(asked).toMatchObject([{ status: 404 }])
  })

  it('goes by serverStats.trips before the handler, and by neither where it throws', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const trips = ({ status }: Outcome) => {
      if (status === 503) throw new Error('odd')
      return status === 418
    }
    const options = { retry: { handler: 'default' }, serverStats: { trips } } as const
    expect(failures(options, { status: 418 }, { status: 503 }, { status: 503 })).toBe(3)
    expect(error).toHaveBeenCalledTimes(1)
    error.mockRestore()
  })

  it('is one rule with isCircuitTripping, also for a body that breaks off', () => {
    const outcome = { status: 503, error: new Error('odd') }
    expect([isCircuitTripping(outcome), failures({}, outcome)]).toEqual([true, 1])
  })
})

describe('known pains', () => {
  it('Netflix/ribbon#394: the retry on another instance never goes to the one that failed', async () => {
    const { sent, lb } = setup({}, (host) => (host === 'a' ? node('ECONNREFUSED') : 200), {
      instances: ['http://a:1', 'http://b:1'],
      policy: 'random',
    })
    for (let i = 0; i < 500; i++) await lb.fetch('http://s/')
    expect(sent.join('')).not.toContain('aa')
    expect(sent.length).toBeGreaterThan(700)
  })

  it('spring-cloud-netflix#3974: two instances that answer 500, one retry on the same: requests alternate', async () => {
    const { sent, lb } = setup(
      { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 0, statusCodes: [500] },
      () => 500,
      { instances: ['http://a:1', 'http://b:1'], policy: { type: 'round-robin', start: -1 } },
    )
    for (let i = 0; i < 4; i++) await lb.fetch('http://s/')
    expect(sent.join('')).toBe('aabbaabb')
  })

  it('spring-cloud-commons#747: of 100 calls at once each is retried where it has not been', async () => {
    const { lb } = setup({}, (host) => (host === 'a' ? 500 : 200), {
      retry: { statusCodes: [500] },
      policy: 'random',
    })
    const answers = await Promise.all(Array.from({ length: 100 }, () => lb.fetch('http://s/')))
    const tried = answers.map((answer) =>
      attemptsOf(answer)
        .map(({ instance }) => instance.host)
        .join(''),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(tried.filter((hosts) => hosts.startsWith('a')).length).toBeGreaterThan(20)
    expect(tried.filter((hosts) => /^a[^bc]?$/.test(hosts))).toEqual([])
  })
})
