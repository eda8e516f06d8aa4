import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { registryAddress } from '../../bindings/discovery/registry/registry-address.js'
import { RegistryHttp } from '../../bindings/discovery/registry/registry-http.js'
import type { RegistryTransportOptions } from '../../bindings/discovery/registry/transport-options.js'
import type { FetchLike } from '../../bindings/index.js'
import { RegistryServer } from './serve.js'

const address = registryAddress('http://registry:1', 'url')
const never = () => new AbortController().signal

function httpOf(fetch: FetchLike, rest: RegistryTransportOptions = {}) {
  const http = new RegistryHttp('test', { fetch, ...rest })
  const ask = (signal = never(), more: object = {}) => http.ask({ address, path: '/list', signal, ...more })
  return { http, ask }
}

const answering = (body: BodyInit | null, init?: ResponseInit) => httpOf(async () => new Response(body, init))
const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error) => error,
  )

/** A body in pieces that tells how many were taken, and whether it was cancelled. */
function pieces(size: number, count: number) {
  const body = { taken: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (body.taken++ === count) return controller.close()
        controller.enqueue(new Uint8Array(size).fill(0x20))
      },
      cancel() {
        body.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return Object.assign(body, { stream })
}

describe('a question to a registry', () => {
  it('is sent with its query, headers and body, and the options of the transport', async () => {
    const sent: [Request, RequestInit & Record<string, unknown>][] = []
    const dispatcher = { tls: true }
    const { ask } = httpOf(
      async (input, init) => {
        sent.push([new Request(input, { ...init, signal: null }), init as RequestInit & Record<string, unknown>])
        return new Response('yes')
      },
      { init: { dispatcher, method: 'DELETE', redirect: 'follow' }, headers: { 'x-mine': 'a', 'x-both': 'b' } },
    )
    const query = { q: 'a b', none: undefined, many: ['1', '2'], number: 0 }
    const answer = await ask(never(), { method: 'PUT', query, headers: { 'x-both': 'c' }, body: '{}' })
    expect(answer).toMatchObject({ status: 200, text: 'yes', from: 'test: PUT http://registry:1/list' })
    const [request, init] = sent[0] as (typeof sent)[0]
    expect([request.method, request.url]).toEqual(['PUT', 'http://registry:1/list?q=a+b&many=1&many=2&number=0'])
    expect([request.headers.get('x-mine'), request.headers.get('x-both')]).toEqual(['a', 'c'])
    expect(await request.text()).toBe('{}')
    // TLS options reach the transport as they are; what the protocol needs is not theirs.
    expect([init.dispatcher === dispatcher, init.redirect]).toEqual([true, 'manual'])
  })

  it('is refused where a connection is, and says why', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
    const { ask } = httpOf(() => Promise.reject(new TypeError('fetch failed', { cause })))
    expect(await failing(ask())).toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      failure: 'unreachable',
      message: 'test: GET http://registry:1/list: connect ECONNREFUSED 127.0.0.1:1',
    })
  })

  it('reaches nobody where the transport throws, whatever it throws', async () => {
    for (const thrown of [undefined, null, 'text', new Error('own')]) {
      const { ask } = httpOf(() => {
        throw thrown
      })
      expect(await failing(ask())).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure: 'unreachable' })
    }
  })

  it('is not answered by a redirect, and nothing is sent where it leads', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const body = pieces(10, 10)
      let sent = 0
      const { ask } = httpOf(
        async () => (sent++, new Response(body.stream, { status, headers: { location: 'http://elsewhere/' } })),
      )
      expect(await failing(ask())).toMatchObject({ failure: 'redirect', status })
      expect([sent, body.cancelled]).toEqual([1, true])
    }
  })
})

describe('an answer', () => {
  it('may be of any status, and is accepted by those that the protocol knows', async () => {
    const { http, ask } = answering('{"a":1}', { status: 404 })
    const answer = await ask()
    expect(http.json(answer, [200, 404])).toEqual({ a: 1 })
    expect(() => http.accepted(answer)).toThrow(/answered status 404/)
  })

  it('that says no says how', async () => {
    const kinds = { 401: 'denied', 403: 'denied', 429: 'limited', 500: 'status', 503: 'status', 404: 'status' }
    for (const [status, failure] of Object.entries(kinds)) {
      const { http, ask } = answering('no way\nand more', { status: Number(status) })
      const error = http.refusal(await ask())
      expect(error).toMatchObject({ failure, status: Number(status) })
      expect(error.message).toBe(`test: GET http://registry:1/list answered status ${status}: no way`)
    }
    const { http, ask } = answering('<html>teapot</html>', { status: 502 })
    expect(http.refusal(await ask()).message).toBe('test: GET http://registry:1/list answered status 502')
  })

  it('that is no JSON says what it is', async () => {
    const bodies = { '{"a":': /no JSON/, '': /nothing/, ' <!doctype html><p>': /HTML or XML/, '[1,2': /no JSON/ }
    for (const [body, what] of Object.entries(bodies)) {
      const { http, ask } = answering(body)
      const answer = await ask()
      const read = () => http.json(answer)
      expect(read).toThrow(expect.objectContaining({ failure: 'malformed', status: 200 }))
      expect(read).toThrow(what)
    }
  })

  it('of 10 MB is refused by its length, before it is read', async () => {
    const body = pieces(1_000, 10_000)
    const { ask } = answering(body.stream, { headers: { 'content-length': '10000000' } })
    expect(await failing(ask())).toMatchObject({
      failure: 'too-large',
      message: expect.stringMatching(/maxAnswerBytes/),
    })
    expect([body.taken, body.cancelled]).toEqual([0, true])
  })

  it('of 10 MB without a length is refused where it exceeds the limit, and read no further', async () => {
    const body = pieces(100_000, 100)
    const { ask } = answering(body.stream)
    expect(await failing(ask())).toMatchObject({ failure: 'too-large' })
    expect([body.taken, body.cancelled]).toEqual([Math.floor((8 * 2 ** 20) / 100_000) + 1, true])
  })

  it('is read to the last byte that is allowed, whole characters across pieces', async () => {
    const bytes = new TextEncoder().encode('"€"')
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    const { http, ask } = httpOf(async () => new Response(body), { maxAnswerBytes: bytes.length })
    expect(http.json(await ask())).toBe('€')
    const { ask: less } = httpOf(async () => new Response('"€"'), { maxAnswerBytes: bytes.length - 1 })
    expect(await failing(less())).toMatchObject({ failure: 'too-large' })
  })

  it('that breaks off is unreachable', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new TypeError('terminated'))
      },
    })
    const { ask } = answering(body)
    expect(await failing(ask())).toMatchObject({ failure: 'unreachable', message: expect.stringMatching(/terminated/) })
  })
})

describe('the time of a question', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is limited, also where the transport listens to no signal', async () => {
    let heard: AbortSignal | undefined
    const { ask } = httpOf((_, init) => {
      heard = init?.signal ?? undefined
      return new Promise(() => {})
    })
    const error = failing(ask())
    await vi.advanceTimersByTimeAsync(4_999)
    expect(heard?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await error).toMatchObject({ failure: 'timeout', message: expect.stringMatching(/within 5000 ms/) })
    expect([heard?.aborted, vi.getTimerCount()]).toEqual([true, 0])
  })

  it('is its own and what the registry itself may wait', async () => {
    const { ask } = httpOf(() => new Promise(() => {}), { requestTimeoutMs: 100 })
    let over = false
    const error = failing(ask(never(), { waitMs: 30_000 })).finally(() => {
      over = true
    })
    await vi.advanceTimersByTimeAsync(30_099)
    expect(over).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await error).toMatchObject({ failure: 'timeout' })
  })

  it('is that of the body too', async () => {
    const { ask } = httpOf(async () => new Response(new ReadableStream()), { requestTimeoutMs: 100 })
    const error = failing(ask())
    await vi.advanceTimersByTimeAsync(100)
    expect(await error).toMatchObject({ failure: 'timeout' })
  })

  it('ends when the signal says so, with its reason, and a later failure is nobody’s', async () => {
    const stop = new AbortController()
    let fail: (error: Error) => void = () => {}
    const { ask } = httpOf(() => new Promise((_, reject) => (fail = reject)))
    const error = failing(ask(stop.signal))
    const reason = new Error('closed')
    stop.abort(reason)
    expect(await error).toBe(reason)
    fail(new Error('late'))
    await vi.advanceTimersByTimeAsync(0)
    expect(vi.getTimerCount()).toBe(0)
    const { ask: askNobody } = httpOf(() => Promise.reject(new Error('was sent')))
    expect(await failing(askNobody(stop.signal))).toBe(reason)
  })
})

describe('an answer that goes on', () => {
  it('is read as it comes, and closed by who has read enough', async () => {
    const body = pieces(10, 1_000)
    let signal: AbortSignal | undefined
    const { http } = httpOf(async (_, init) => {
      signal = init?.signal ?? undefined
      return new Response(body.stream)
    })
    const open = await http.open({ address, path: '/watch', signal: never() })
    const reader = open.body.getReader()
    expect((await reader.read()).value).toHaveLength(10)
    open.close()
    expect(signal?.aborted).toBe(true)
  })

  it('of another status is refused with its text, and its connection closed', async () => {
    let signal: AbortSignal | undefined
    const { http } = httpOf(async (_, init) => {
      signal = init?.signal ?? undefined
      return new Response('forbidden', { status: 403 })
    })
    const error = await failing(http.open({ address, path: '/watch', signal: never() }))
    expect(error).toMatchObject({ failure: 'denied', status: 403, message: expect.stringMatching(/forbidden/) })
    expect(signal?.aborted).toBe(true)
  })

  it('leaves nothing on the signal of the watch, however often one is opened and closed', async () => {
    const stop = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = stop.signal
    stop.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++
      addEventListener.apply(stop.signal, args)
    }
    stop.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--
      removeEventListener.apply(stop.signal, args)
    }
    const { http, ask } = answering('x')
    for (let i = 0; i < 5; i++) {
      await ask(stop.signal)
      const open = await http.open({ address, path: '/watch', signal: stop.signal })
      open.close()
    }
    expect(listeners).toBe(0)
  })
})

describe('secrets', () => {
  const secret = 's3cret-token'
  const given = registryAddress(`http://user:${secret}@registry:1`, 'url')

  it('are in no error: not of the transport, not of the status, not of what a registry echoes', async () => {
    const basic = given.authorization as string
    const echoes: FetchLike[] = [
      () => Promise.reject(new Error(`bad header x-token: ${secret}`)),
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error(`${basic} was refused`) })),
      async () => new Response(`no access for ${secret} with ${basic}`, { status: 403 }),
      async () => new Response(`<p>${secret}`),
      async () => new Response(null, { status: 302, headers: { location: `http://x/?token=${secret}` } }),
    ]
    for (const fetch of echoes) {
      const http = new RegistryHttp('test', { fetch, headers: { 'x-token': secret } })
      const question = { address: given, path: `/list/${secret}`, signal: never() }
      const error = await failing(http.ask(question).then((answer) => http.json(answer)))
      expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
      const shown = inspect(error, { depth: 10 }) + (error as Error).stack
      expect(shown).not.toContain(secret)
      expect(shown).not.toContain(basic)
      expect(shown).not.toContain(btoa(`user:${secret}`))
    }
  })

  it('that no header takes are refused without being told', () => {
    expect(() => new RegistryHttp('test', { headers: { 'x-token': `${secret}\n` } })).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.not.stringContaining(secret) }),
    )
  })
})

describe('over real HTTP', () => {
  it('nothing is left open when the registry answers, redirects, is too large, or is left alone', async () => {
    let open = 0
    const server = new RegistryServer({
      async fetch(request) {
        open++
        request.signal.addEventListener('abort', () => open--, { once: true })
        const { pathname } = new URL(request.url)
        if (pathname === '/redirect') return Response.redirect('http://127.0.0.1:1/', 302)
        if (pathname === '/large') return new Response(new Uint8Array(10_000_000))
        if (pathname === '/hang') return new Promise(() => {})
        return new Response('[]')
      },
    })
    await server.start()
    const http = new RegistryHttp('test', { requestTimeoutMs: 1_500 })
    const ask = (path: string) =>
      failing(http.ask({ address: registryAddress(server.url, 'url'), path, signal: never() }))
    expect(await ask('/list')).toBe('no error')
    expect(await ask('/redirect')).toMatchObject({ failure: 'redirect', status: 302 })
    expect(await ask('/large')).toMatchObject({ failure: 'too-large' })
    expect(await ask('/hang')).toMatchObject({ failure: 'timeout' })
    await vi.waitFor(() => expect(open).toBe(0))
    await server.kill()
    expect(await ask('/list')).toMatchObject({ failure: 'unreachable' })
  })
})
