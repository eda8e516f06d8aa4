/** @module HTTP servers on loopback, each with one property worth noticing. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { lineOf, Problem } from './problem.js'

export interface BackendPlan {
  readonly instanceId: string
  readonly zone: string
  readonly hint?: string
  readonly weight?: number
  readonly delayMs: number
  readonly status: number
}

export const PLANS: readonly BackendPlan[] = [
  { instanceId: 'equal-1', zone: 'shanghai', delayMs: 8, status: 200 },
  { instanceId: 'equal-2', zone: 'shanghai', hint: 'v2', delayMs: 8, status: 200 },
  { instanceId: 'slow', zone: 'shanghai', delayMs: 60, status: 200 },
  { instanceId: 'fast-503', zone: 'shanghai', delayMs: 0, status: 503 },
  { instanceId: 'other-zone', zone: 'beijing', hint: 'v2', delayMs: 12, status: 200 },
  { instanceId: 'heavy', zone: 'shanghai', hint: 'v2', weight: 3, delayMs: 8, status: 200 },
]

export function behaviourOf({ zone, weight, delayMs, status }: BackendPlan): string {
  const when = delayMs === 0 ? 'at once' : `after ${delayMs} ms`
  return `answers ${status} ${when}, zone ${zone}${weight === undefined ? '' : `, weight ${weight} in its metadata`}`
}

export interface Backend {
  readonly plan: BackendPlan
  readonly url: string
  /** Requests that have arrived since the last `forget`. */
  readonly hits: number
  forget(): void
  stop(): Promise<void>
}

/** All of them, or none and a Problem. */
export async function startBackends(plans: readonly BackendPlan[]): Promise<Backend[]> {
  const starts = await Promise.allSettled(plans.map(startBackend))
  const started = starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []))
  const failed = starts.find((start) => start.status === 'rejected')
  if (failed === undefined) return started
  await stopBackends(started)
  throw new Problem(`can't open a port on 127.0.0.1: ${lineOf(failed.reason)}`, 1)
}

export async function stopBackends(backends: readonly Backend[]): Promise<void> {
  await Promise.all(backends.map((backend) => backend.stop()))
}

async function startBackend(plan: BackendPlan): Promise<Backend> {
  let hits = 0
  // Between two runs a connection may idle for longer than Node's default of 5 s; one that closes just as a request
  // arrives would be a retry, which is not what this shows.
  const server = createServer({ keepAliveTimeout: 60_000 }, (_, response) => {
    hits++
    const answer = () => response.writeHead(plan.status, { 'content-type': 'text/plain' }).end(`${plan.instanceId}\n`)
    if (plan.delayMs > 0) setTimeout(answer, plan.delayMs)
    else answer()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    plan,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get hits() {
      return hits
    },
    forget() {
      hits = 0
    },
    stop: () => stop(server),
  }
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    // The client keeps its connections alive, and `close` waits for them.
    server.closeAllConnections()
  })
}
