/** @module Logging in at Nacos: tokens that expire, are refused, are renewed; never in a hurry, never told. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import type { NacosDiscoveryOptions } from '../../bindings/discovery/nacos/options.js'
import { FakeNacos } from './fakes/nacos.js'
import { inProcess } from './in-process.js'

const signal = new AbortController().signal
const USER = { username: 'app', password: 'pa ss&wörd', ttlMs: 1_000_000 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function setup(options: Partial<NacosDiscoveryOptions> = {}, ttlMs = USER.ttlMs) {
  const fake = new FakeNacos()
  fake.logins.user = { ...USER, ttlMs }
  fake.add('orders', { instanceId: 'a', host: '10.0.0.1', port: 80 })
  const { username, password } = USER
  const client = nacosDiscovery({ url: 'http://nacos', fetch: inProcess(fake), username, password, ...options })
  const get = () => client.get('orders', { signal })
  const paths = () => fake.log.map(({ path }) => path.replace('/client/ns/instance', '').replace('/ns/instance', ''))
  return { fake, client, get, paths }
}

const failureOf = (promise: Promise<unknown>) => promise.catch((error: { failure: string; message: string }) => error)

it('in the query is not told by a transport that tells the URL, whatever it is encoded as', async () => {
  const accessToken = 'a+b/c=='
  const send = async (input: unknown): Promise<Response> => {
    throw new TypeError(`error sending request for url (${input})`)
  }
  const client = nacosDiscovery({ url: 'http://nacos', fetch: send as never, accessToken, tokenIn: 'query' })
  const error = await failureOf(client.get('orders', { signal }))
  const told = JSON.stringify([String(error), String((error as Error).cause), (error as Error).stack])
  expect(told).toContain('accessToken=…')
  expect(told).not.toContain('a%2Bb')
})

describe('a token', () => {
  it('is got before the first question, and sent in headers', async () => {
    const { fake, get, paths } = setup()
    expect(await get()).toMatchObject([{ instanceId: 'a' }])
    expect(paths()).toEqual(['/v3/auth/user/login', '/v3/list'])
    const { headers, url } = fake.log[1] as { headers: Headers; url: string }
    expect(headers.get('authorization')).toBe(`Bearer ${headers.get('accesstoken')}`)
    expect(url).not.toContain('token')
    expect(fake.log[0]?.url).not.toMatch(/app|wörd/)
  })

  it('is sent in the query where the user wants it there', async () => {
    const { fake, get } = setup({ tokenIn: 'query' })
    expect(await get()).toHaveLength(1)
    expect(fake.log[1]?.params.get('accessToken')).toMatch(/^token-1/)
    expect(fake.log[1]?.headers.has('authorization')).toBe(false)
  })

  it("leaves the proxy's credentials in the URL alone", async () => {
    const { fake, get } = setup({ url: 'http://proxy:secret@nacos' })
    expect(await get().catch(() => 'refused')).toHaveLength(1)
    expect(fake.log[1]?.headers.get('authorization')).toBe(`Basic ${btoa('proxy:secret')}`)
  })

  it.each([
    [['v1', 'v2'], 404, ['/v3/auth/user/login', '/v1/auth/users/login']],
    [['v3'], 404, ['/v3/auth/user/login']],
  ] as const)('of servers with %j is got where they have it', async (apis, status, logins) => {
    const { fake, get, paths } = setup()
    fake.apis = new Set(apis)
    fake.absentStatus = status
    await get()
    await get()
    expect(paths().filter((path) => path.includes('/auth/'))).toEqual(logins)
  })

  it('given by the user is sent as it is, and not renewed', async () => {
    const { fake, client } = setup({ username: undefined, password: undefined, accessToken: 'my-token' } as never)
    const error = await failureOf(client.get('orders', { signal }))
    expect(error).toMatchObject({ failure: 'denied', status: 403 })
    expect(fake.log.map(({ headers }) => headers.get('accesstoken'))).toEqual(['my-token', 'my-token', 'my-token'])
  })

  it('is renewed at 90 % of its life, less up to a tenth', async () => {
    const { fake, get } = setup({ random: () => 0.5 })
    await get()
    await vi.advanceTimersByTimeAsync(854_999)
    await get()
    expect(fake.logins.given).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    await get()
    expect(fake.logins.given).toBe(2)
  })

  it('that cannot be renewed is used to its end', async () => {
    const { fake, get } = setup({ random: () => 0.5 })
    await get()
    await vi.advanceTimersByTimeAsync(900_000)
    fake.fault = ({ path }) => (path.includes('/auth/') ? new Response('', { status: 500 }) : undefined)
    expect(await get()).toHaveLength(1)
    const asked = fake.log.length
    expect(await get()).toHaveLength(1)
    expect(fake.log.length).toBe(asked + 1)
    await vi.advanceTimersByTimeAsync(100_000)
    expect(await failureOf(get())).toMatchObject({ failure: 'status', status: 500 })
  })

  it('is got once for all services that wait for it', async () => {
    const { fake, client } = setup()
    await Promise.all(Array.from({ length: 50 }, (_, i) => client.get(`service-${i}`, { signal })))
    expect(fake.logins.given).toBe(1)
  })

  it('whoever gives up waiting for it does not take it from the others', async () => {
    const { fake, client } = setup()
    const stop = new AbortController()
    const first = client.get('orders', { signal: stop.signal }).catch(() => 'gave up')
    const second = client.get('orders', { signal })
    stop.abort()
    expect(await first).toBe('gave up')
    expect(await second).toHaveLength(1)
    expect(fake.logins.given).toBe(1)
  })
})

describe('nacos#2762, nacos#3455: 403 after the token has expired', () => {
  it('a token that the server has forgotten is replaced, and the question asked again, once', async () => {
    const { fake, get, paths } = setup()
    await get()
    await vi.advanceTimersByTimeAsync(60_000)
    fake.logins.forget()
    fake.log.length = 0
    expect(await get()).toMatchObject([{ instanceId: 'a' }])
    expect(paths()).toEqual(['/v3/list', '/v3/auth/user/login', '/v3/list'])
  })

  it.each(['v1', 'v2', 'v3'] as const)('in %s', async (api) => {
    const { fake, get } = setup({ api }, 20_000)
    fake.apis = new Set([api])
    for (let minute = 0; minute < 10; minute++) {
      expect(await get()).toHaveLength(1)
      await vi.advanceTimersByTimeAsync(60_000)
    }
    expect(fake.logins.given).toBe(10)
  })

  it('a new token that is refused too is not renewed until the next question, and then not at once', async () => {
    const { fake, get } = setup({ api: 'v3' })
    fake.fault = ({ path }) => (path.includes('/list') ? new Response('no permission', { status: 403 }) : undefined)
    expect(await failureOf(get())).toMatchObject({ failure: 'denied' })
    expect(fake.log.length).toBe(2)
    for (let i = 0; i < 20; i++) await failureOf(get())
    expect(fake.logins.given).toBe(1)
    await vi.advanceTimersByTimeAsync(5_000)
    await failureOf(get())
    expect(fake.logins.given).toBe(2)
  })

  it('a wrong password is not tried again and again', async () => {
    const { fake, client, paths } = setup({ api: 'v3' })
    const logins = () => paths().filter((path) => path.includes('/auth/')).length
    fake.logins.user = { ...USER, password: 'another' }
    const errors: { failure?: string; message?: string }[] = []
    const stop = new AbortController()
    for (let i = 0; i < 20; i++) {
      const watch = client.watch(`service-${i}`, {
        signal: stop.signal,
        failed: (error) => errors.push(error as Error),
      })
      void watch.next()
    }
    await vi.advanceTimersByTimeAsync(60_000)
    expect(errors.length).toBeGreaterThan(20)
    expect(errors.every(({ failure }) => failure === 'denied')).toBe(true)
    // One in 5 to 10 s, for all services together.
    expect(logins()).toBeLessThanOrEqual(12)
    expect(JSON.stringify(errors.map(({ message }) => message))).not.toMatch(/wörd/)
    stop.abort()
  })
})

describe('an answer to a login that is none', () => {
  it.each([
    ['no token', { tokenTtl: 5 }],
    ['a token that is no text', { accessToken: 7 }],
    ['a token that no header takes', { accessToken: 'a\nb' }],
  ])('%s is malformed', async (_, body) => {
    const { fake, get } = setup()
    fake.fault = ({ path }) => (path.includes('/auth/') ? Response.json(body) : undefined)
    expect(await failureOf(get())).toMatchObject({ failure: 'malformed' })
  })

  it('without a time to live the token is good for five hours', async () => {
    const { fake, get } = setup({ random: () => 0 }, 10 ** 9)
    fake.answers = async (response) => {
      const body = (await response.clone().json()) as Record<string, unknown>
      return 'accessToken' in body ? Response.json({ accessToken: body.accessToken }) : response
    }
    await get()
    await vi.advanceTimersByTimeAsync(16_199_000)
    await get()
    expect(fake.logins.given).toBe(1)
    await vi.advanceTimersByTimeAsync(1_000)
    await get()
    expect(fake.logins.given).toBe(2)
  })
})
