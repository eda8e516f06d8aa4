/** @module What SCLB's request transformers send: X-Forwarded headers and the instance's cookie, attempt by attempt. */

import { expect } from 'chai'
import { stickySession } from 'evenkeel'
import file from '../../vectors/sclb-transformers.json'
import { lines, replayed, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface TransformersVector extends Vector {
  client: 'blocking' | 'reactive'
  xForwarded?: boolean
  addCookie?: boolean
  cookieName?: string
  instance: { instanceId: string; host: string; port: number; secure?: boolean }
  original: string
  headers?: Record<string, string[]>
  cookies?: Record<string, string[]>
  attempts: number
  sent: { url: string; headers?: Record<string, string[]>; cookies?: Record<string, string[]> }[]
}

/** Cookies as the reactive client writes them. */
function cookieHeader(cookies: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  const pairs = lines(cookies).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? {} : { Cookie: [pairs.join('; ')] }
}

/** One line each, as `fetch` joins them. */
function joined(headers: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => {
      const key = name.toLowerCase()
      return [key, values.join(key === 'cookie' ? '; ' : ', ')]
    }),
  )
}

export const cases = replayed<TransformersVector>(file, (vector) => {
  const { client, xForwarded = false, addCookie = false, cookieName, instance, original, attempts } = vector
  const sent: [string, Record<string, string>][] = []
  const transport = async (url: string | URL | Request, init?: RequestInit) => {
    sent.push([String(url), Object.fromEntries(new Headers(init?.headers))])
    if (sent.length < attempts) throw new Error('refused')
    return new Response()
  }
  const sticky = stickySession({
    addServiceInstanceCookie: addCookie,
    ...(cookieName !== undefined && { cookie: cookieName }),
  })
  return withService(
    {
      instances: [instance],
      // The reactive client's transformer never takes effect.
      xForwarded: xForwarded && client === 'blocking',
      suppliers: [sticky],
      retry: { maxRetriesOnSameServiceInstance: 1, exceptions: () => true },
    },
    async (service) => {
      await service.fetch(original, { headers: joined(vector.headers ?? cookieHeader(vector.cookies ?? {})) })
      const expected = vector.sent.map(({ url, headers, cookies }) => [
        url,
        joined(headers ?? cookieHeader(cookies ?? {})),
      ])
      expect(sent).to.deep.equal(expected)
    },
    { fetch: transport },
  )
})
