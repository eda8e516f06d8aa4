import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attemptsOf, createLoadBalancer, roundRobin, sameInstancePreference } from '../../bindings/index.js'
import { stickySession } from '../../bindings/supplier/sticky-session.js'

const read = <V>(topic: string) => {
  const file = new URL(`../vectors/sclb-${topic}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { vectors: V[] }).vectors
}

interface RetryVector {
  id: string
  client: 'blocking' | 'reactive'
  instances: number
  method: string
  suppliers?: string[]
  retry?: {
    enabled?: boolean
    maxSame?: number
    maxNext?: number
    retryOnAllOperations?: boolean
    retryOnAllExceptions?: boolean
    retryableStatusCodes?: number[]
    retryableExceptions?: string[]
  }
  outcomes: (number | string)[]
  exchanges: number[]
  status?: number
  error?: string
}

/** An exception and its causes, written as `Outer<Inner>`. */
function thrownAs(text: string): Error {
  const [, name = '', cause] = /^(\w+)(?:<(.*)>)?$/.exec(text) ?? []
  const error = new Error(text, cause === undefined ? undefined : { cause: thrownAs(cause) })
  error.name = name
  return error
}

/** As deep as each of SCLB's clients looks for a listed exception; these three are IOExceptions. */
function listed({ client, retry = {} }: RetryVector): (error: unknown) => boolean {
  const io = ['IOException', 'ConnectException', 'RetryableStatusCodeException']
  const names = retry.retryableExceptions?.map((name) => name.replace(/.*\./, '')) ?? [...io, 'TimeoutException']
  return (error) => {
    if (retry.retryOnAllExceptions) return true
    let cause = error as Error | undefined
    for (let depth = client === 'blocking' ? 2 : 3; depth > 0 && cause !== undefined; depth--) {
      if (names.includes(cause.name)) return true
      cause = cause.cause as Error | undefined
    }
    return false
  }
}

const QUIRKS = {
  blocking: ['retry-exceptions-drop-status', 'retry-aware-no-second-list'],
  reactive: ['retry-post-on-exception', 'retry-same-moves-on', 'retry-aware-no-second-list'],
}

async function replay(vector: RetryVector) {
  const { client, instances, method, suppliers = ['retry-aware'], retry = {}, outcomes } = vector
  const urls = Array.from({ length: instances }, (_, i) => `http://i${i}:1`)
  let sent = 0
  const lb = createLoadBalancer({
    compat: QUIRKS[client],
    seed: 1,
    async fetch() {
      const outcome = outcomes[Math.min(sent++, outcomes.length - 1)] as number | string
      if (typeof outcome === 'string') throw thrownAs(outcome)
      return new Response(null, { status: outcome })
    },
    services: {
      svc: {
        instances: urls,
        policy: roundRobin({ start: -1 }),
        suppliers: suppliers.includes('same-instance-preference') ? [sameInstancePreference()] : [],
        retry: retry.enabled !== false && {
          ...(retry.maxSame !== undefined && { maxRetriesOnSameServiceInstance: retry.maxSame }),
          ...(retry.maxNext !== undefined && { maxRetriesOnNextServiceInstance: retry.maxNext }),
          methods: ['GET'],
          retryOnAllOperations: retry.retryOnAllOperations ?? false,
          statusCodes: retry.retryableStatusCodes ?? [],
          exceptions: listed(vector),
          avoidPreviousInstance: suppliers.includes('retry-aware'),
        },
      },
    },
  })
  const result = await lb.fetch('http://svc/', { method }).catch((error: Error) => error)
  const exchanges = attemptsOf(result).map(({ instance }) => urls.indexOf(`http://${instance.instanceId}`))
  return { exchanges, result }
}

describe('retries are SCLB’s, with its quirks', () => {
  const vectors = read<RetryVector>('retry')

  it('which is asked of several hundred calls', () => {
    expect(vectors.length).toBeGreaterThan(200)
  })

  it.each(vectors.map((vector) => [vector.id, vector] as const))('%s', async (_, vector) => {
    const { exchanges, result } = await replay(vector)
    // SCLB keeps out only the last instance that was tried; here none is tried twice while others are left.
    if ((vector.retry?.maxNext ?? 1) > 1) expect(exchanges).toHaveLength(vector.exchanges.length)
    else expect(exchanges).toEqual(vector.exchanges)
    if (vector.instances === 0) {
      expect(result).toMatchObject({ code: 'EVENKEEL_NO_INSTANCE' })
    } else if (vector.status !== undefined || vector.error?.includes('RetryableStatusCodeException')) {
      // The reactive client makes an error of some last responses whose status could have been retried.
      expect((result as Response).status).toBe(
        vector.status ?? vector.outcomes[exchanges.length - 1] ?? vector.outcomes.at(-1),
      )
    } else {
      // And it wraps twice what ended the last retry.
      expect((result as Error).message).toBe(vector.error?.replace(/^(RetryExhaustedException<){2}(.*)>>$/, '$2'))
    }
  })
})

interface SentVector {
  id: string
  client: string
  xForwarded?: boolean
  addCookie?: boolean
  cookieName?: string
  instance: { instanceId?: string; host: string; port: number; secure?: boolean }
  original: string
  headers?: Record<string, string[]>
  attempts: number
  sent: { url: string; headers: Record<string, string[]> }[]
}

describe('headers on the way to an instance are SCLB’s, with its quirks', () => {
  // Here an instance always has an id, and a cookie a name; the reactive client sets cookies by another way.
  const vectors = read<SentVector>('transformers').filter(
    ({ client, instance, cookieName = 'default' }) =>
      client === 'blocking' && instance.instanceId !== undefined && cookieName.trim() !== '',
  )

  it('which is asked of dozens of requests', () => {
    expect(vectors.length).toBeGreaterThan(30)
  })

  it.each(vectors.map((vector) => [vector.id, vector] as const))('%s', async (_, vector) => {
    const { xForwarded = false, addCookie = false, cookieName, instance, original, headers = {}, attempts } = vector
    const sent: [string, Headers][] = []
    const lb = createLoadBalancer({
      compat: 'spring',
      seed: 1,
      async fetch(input, init) {
        sent.push([String(input), new Headers(init?.headers)])
        if (sent.length < attempts) throw thrownAs('IOException')
        return new Response()
      },
      services: {
        svc: {
          instances: [instance as { instanceId: string }],
          xForwarded,
          suppliers: [
            stickySession({
              addServiceInstanceCookie: addCookie,
              ...(cookieName !== undefined && { cookie: cookieName }),
            }),
          ],
          retry: { maxRetriesOnSameServiceInstance: 1, exceptions: () => true },
        },
      },
    })
    const pairs = Object.entries(headers).flatMap(([name, values]) =>
      values.map((value): [string, string] => [name, value]),
    )
    await lb.fetch(original, { headers: pairs })
    const shown = vector.sent.map(({ url, headers }) => {
      // One line each: of cookies between semicolons, of all else between commas.
      const lines = Object.entries(headers).map(([name, values]) => [
        name.toLowerCase(),
        values.join(name.toLowerCase() === 'cookie' ? '; ' : ', '),
      ])
      return [url, Object.fromEntries(lines)]
    })
    expect(sent.map(([url, headers]) => [url, Object.fromEntries(headers)])).toEqual(shown)
  })
})
