/** @module What of headers, tokens and refusals is sent, told and heard. */

import { describe, expect, it, test, vi } from 'vitest'
import { etcdDiscovery } from '../../bindings/discovery/etcd/index.js'
import { kubernetesDiscovery } from '../../bindings/discovery/kubernetes/index.js'
import { Backoff } from '../../bindings/discovery/registry/backoff.js'
import { Endpoints } from '../../bindings/discovery/registry/endpoints.js'
import { registryAddress } from '../../bindings/discovery/registry/registry-address.js'
import { RegistryHttp } from '../../bindings/discovery/registry/registry-http.js'
import type { RegistryTransportOptions } from '../../bindings/discovery/registry/transport-options.js'
import { watchLoop } from '../../bindings/discovery/registry/watch-loop.js'
import { DiscoveryError } from '../../bindings/errors.js'

const never = () => new AbortController().signal
const address = registryAddress('http://user:hunter2hunter2@registry:1', 'url')

/** What is told of a refusal that says this. */
async function told(said: string, options: RegistryTransportOptions): Promise<string> {
  const http = new RegistryHttp('test', { fetch: async () => new Response(said, { status: 401 }), ...options })
  return http.refusal(await http.ask({ address, path: '/', signal: never() })).message
}

describe('no refusal tells', () => {
  const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.e30.sig'

  it('a token without its scheme, or a password without its user', async () => {
    expect(await told(`no such token: ${TOKEN}`, { headers: { authorization: `Bearer ${TOKEN}` } })).toMatch(
      /token: …$/,
    )
    expect(await told('wrong: hunter2hunter2', {})).toMatch(/wrong: …$/)
  })

  it('the beginning of one that is cut off, or the end of one that begins as another', async () => {
    const headers = { 'x-one': TOKEN, 'x-other': `${TOKEN}-and-more` }
    expect(await told(`${'x'.repeat(190)}${TOKEN}`, { headers })).toMatch(/401: x{190}…$/)
    expect(await told(`${TOKEN}-and-more`, { headers })).toMatch(/401: …$/)
  })

  it('less because of a header that is no secret', async () => {
    expect(await told('1 of 2 is 50 %', { headers: { 'x-shard': '1' } })).toMatch(/401: 1 of 2 is 50 %$/)
  })
})

describe('headers', () => {
  it('that differ in case only are one, the later of them', async () => {
    const sent: Headers[] = []
    const fetch = async (_: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers))
      return new Response('{}')
    }
    const http = new RegistryHttp('test', { fetch, headers: { Authorization: 'Bearer mine', ACCEPT: 'text/plain' } })
    await http.ask({ address, path: '/', signal: never(), headers: { accept: 'application/json' } })
    expect([sent[0]?.get('authorization'), sent[0]?.get('accept')]).toEqual(['Bearer mine', 'application/json'])
  })

  test.each([
    [{ headers: new Headers({ a: 'SECRET' }) }, 'headers must be a plain object of strings'],
    [{ headers: [['a', 'SECRET']] }, 'headers must be a plain object of strings'],
    [{ headers: { a: 1234567 } }, 'headers.a must be a string'],
    [{ headers: { 'a b': 'SECRET' } }, 'headers must be an object whose keys are names of headers, unlike "a b"'],
    [{ headers: 'SECRET' }, 'headers must be a plain object of strings'],
    [{ init: 'SECRET' }, 'init must be an object'],
    [{ init: { headers: { a: 'SECRET' } } }, 'init takes no headers: use the option headers'],
  ])('that could not be sent are refused, and not shown: %o', (options, message) => {
    for (const make of [etcdDiscovery, kubernetesDiscovery]) {
      expect(() => make({ url: 'http://registry:1', ...options } as never)).toThrow(
        expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: `${make.name}.${message}` }),
      )
    }
  })
})

it('a transport that answers when nobody waits any more has its body cancelled', async () => {
  let cancelled = false
  let answer = (_: Response) => {}
  const late = new Promise<Response>((resolve) => {
    answer = resolve
  })
  const stop = new AbortController()
  const http = new RegistryHttp('test', { fetch: () => late })
  const opened = http.open({ address, path: '/', signal: stop.signal })
  stop.abort(new Error('closed'))
  await expect(opened).rejects.toThrow('closed')
  answer(new Response(new ReadableStream({ cancel: () => void (cancelled = true) })))
  await new Promise((resolve) => setImmediate(resolve))
  expect(cancelled).toBe(true)
})

describe('Retry-After', () => {
  const limited = async (status: number, said: string) => {
    const fetch = async () => new Response('', { status, headers: { 'retry-after': said } })
    const http = new RegistryHttp('test', { fetch })
    return http.refusal(await http.ask({ address, path: '/', signal: never() })).retryAfterMs
  }

  it('is read of a 429 or 503, in seconds or as a date', async () => {
    expect(await limited(429, '7')).toBe(7_000)
    const at = await limited(503, new Date(Date.now() + 60_000).toUTCString())
    expect(at).toBeGreaterThan(50_000)
    for (const [status, said] of [
      [500, '7'],
      [429, 'soon'],
      [429, '0'],
      [429, '-1'],
      [429, 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ] as const) {
      expect(await limited(status, said)).toBe(undefined)
    }
  })

  it('is waited for by a watch, at most a minute, and then as long as ever', async () => {
    vi.useFakeTimers()
    const stop = new AbortController()
    const begun: number[] = []
    const began = Date.now()
    const session = async function* (): AsyncGenerator<string> {
      begun.push((Date.now() - began) / 1_000)
      const retryAfterMs = [7_000, 3_600_000][begun.length - 1]
      if (begun.length === 9) yield 'a list'
      throw new DiscoveryError('not now', retryAfterMs === undefined ? {} : { retryAfterMs })
    }
    const backoff = new Backoff({ minMs: 1_000, maxMs: 30_000 }, () => 0.5)
    const ended = watchLoop(session, { options: { signal: stop.signal }, backoff, clock: () => Date.now() }).next()
    await vi.advanceTimersByTimeAsync(80_000)
    expect(begun).toEqual([0, 8, 70, 74, 79])
    stop.abort()
    await ended
    vi.useRealTimers()
  })

  it('of several servers is that of the soonest, if all have one', async () => {
    const servers = (waits: (number | undefined)[]) => {
      const addresses = waits.map((_, i) => registryAddress(`http://r${i}`, 'url'))
      return new Endpoints('test', addresses).ask(never(), async ({ base }) => {
        const retryAfterMs = waits[Number(base.slice('http://r'.length))]
        throw new DiscoveryError('not now', { failure: 'limited', ...(retryAfterMs && { retryAfterMs }) })
      })
    }
    await expect(servers([9_000, 2_000])).rejects.toMatchObject({ retryAfterMs: 2_000 })
    await expect(servers([9_000, undefined])).rejects.toMatchObject({ retryAfterMs: undefined })
  })
})
