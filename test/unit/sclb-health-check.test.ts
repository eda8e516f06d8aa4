/** SCLB's health checks in virtual time, as the oracle ran them: whom a pick is offered, millisecond by millisecond. */

import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, type InstanceInit, type Policy } from '../../bindings/index.js'
import { replayable } from '../conformance/vectors/without-counterpart.js'

interface HealthCheckVector {
  id: string
  initialDelayMs: number
  intervalMs: number
  refetchMs?: number
  repeat: boolean
  updateResultsList: boolean
  /** Fetch by fetch, the last one again and again; null: discovery fails. */
  lists: (string[] | null)[]
  /** Check by check, the last one again and again. */
  answers: Record<string, [delayMs: number, kind: 'alive' | 'dead' | 'error' | 'never'][]>
  untilMs: number
  fetches: number[]
  emissions: { at: number; list: string[] }[]
  error?: string
}

const file = new URL('../vectors/sclb-health-check.json', import.meta.url)
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: HealthCheckVector[] }

/** The moments at which something is published, and those just before. */
function moments({ emissions, untilMs }: HealthCheckVector): number[] {
  const times = new Set([0, untilMs, ...emissions.flatMap(({ at }) => [at - 1, at])])
  return [...times].filter((at) => at >= 0 && at <= untilMs).sort((a, b) => a - b)
}

function answering({ answers }: HealthCheckVector) {
  const checks = new Map<string, number>()
  return async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const id = new URL(String(url)).hostname
    const check = checks.get(id) ?? 0
    checks.set(id, check + 1)
    const given = answers[id] ?? []
    const [delayMs, kind] = given[Math.min(check, given.length - 1)] ?? [0, 'never']
    await new Promise<void>((resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      if (kind === 'never') return
      if (delayMs === 0) resolve()
      else setTimeout(resolve, delayMs)
    })
    if (kind === 'error') throw new Error('the check fails')
    return new Response(null, { status: kind === 'alive' ? 200 : 503 })
  }
}

async function replay(vector: HealthCheckVector) {
  const { initialDelayMs, intervalMs, refetchMs, repeat, updateResultsList, lists } = vector
  const begun = Date.now()
  const clock = () => Date.now() - begun
  const fetches: number[] = []
  const discovery = (): InstanceInit[] => {
    const list = lists[Math.min(fetches.length, lists.length - 1)]
    fetches.push(clock())
    if (list === null || list === undefined) throw new Error('discovery fails')
    return list.map((id) => ({ instanceId: id, host: id, port: 8080 }))
  }
  let offered: string[] = []
  const policy: Policy = {
    name: 'remembers what it is offered',
    pick(candidates) {
      offered = Array.from({ length: candidates.length }, (_, i) => candidates.instance(i).instanceId)
      return 0
    },
  }
  const lb = createLoadBalancer({
    compat: 'spring',
    seed: 1,
    clock,
    fetch: answering(vector),
    services: {
      svc: {
        eager: true,
        discovery,
        policy,
        healthCheck: {
          initialDelayMs,
          intervalMs,
          repeat,
          publish: updateResultsList ? 'each' : 'round',
          refetchMs: refetchMs ?? Number.POSITIVE_INFINITY,
        },
      },
    },
  })
  const seen: [number, string[]][] = []
  for (const at of moments(vector)) {
    await vi.advanceTimersByTimeAsync(at - clock())
    offered = []
    // A pick that finds no list asks for one: it is only looked at while there is one.
    if (['ready', 'stale'].includes(lb.service('svc').state)) lb.pick('svc')?.done()
    seen.push([at, offered])
  }
  await lb.close()
  return { seen, fetches }
}

describe('health checks are SCLB’s, with its quirks', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each(replayable(vectors).map((vector) => [vector.id, vector] as const))('%s', async (_, vector) => {
    const { seen, fetches } = await replay(vector)
    const expected = moments(vector).map((at) => [at, vector.emissions.findLast((one) => one.at <= at)?.list ?? []])
    expect(seen).toEqual(expected)
    // The list is asked for at once, and only the checks wait: SCLB waits with both.
    expect(fetches).toEqual(vector.initialDelayMs > 0 ? [0] : vector.fetches)
  })
})
