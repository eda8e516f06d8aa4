/**
 * @module A Worker that balances over instances from a registry, for test/runtime/workerd-refresh.ts to drive:
 *
 *     /pick/SERVICE    picks without waiting: begins a refresh and ends
 *     /choose/SERVICE  waits for the list; ?timeoutMs=50 not longer than that
 *     /fetch/SERVICE   sends a request to the service; ?until with a waitUntil for a refresh
 *     /remove/SERVICE  closes the service
 *
 * `?cache=` is a name of CACHES. `?hello=TOKEN` tells the registry that the request has called the balancer.
 */
import {
  createLoadBalancer,
  type EvenkeelError,
  type InstanceInit,
  type LoadBalancer,
  type ServiceOptions,
} from 'evenkeel'

interface Env {
  REGISTRY: string
}

interface Execution {
  waitUntil(promise: Promise<unknown>): void
}

const CACHES: Record<string, NonNullable<ServiceOptions['cache']>> = {
  fresh: { ttlMs: 600_000 },
  stale: { ttlMs: 0, staleMs: 600_000 },
  none: false,
}

/** One an isolate, as the README tells Workers' users to have it: outside the handler. */
const balancers = new Map<string, LoadBalancer>()

function balancerFor(cache: string, { REGISTRY }: Env): LoadBalancer {
  let lb = balancers.get(cache)
  if (lb === undefined) {
    lb = createLoadBalancer({
      discovery: {
        name: 'registry',
        async get(serviceId, { signal }) {
          const response = await fetch(`${REGISTRY}/list/${serviceId}`, { signal })
          return (await response.json()) as InstanceInit[]
        },
      },
      defaults: { cache: CACHES[cache] ?? false },
    })
    balancers.set(cache, lb)
  }
  return lb
}

export default {
  async fetch(request: Request, env: Env, execution: Execution): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const [, action, serviceId] = pathname.split('/') as [string, string, string]
    const lb = balancerFor(searchParams.get('cache') ?? 'fresh', env)
    const answer = act(lb, action, serviceId, searchParams, execution).then(
      (text) => new Response(text),
      ({ code, message }: EvenkeelError) => new Response(`${code} ${message}`, { status: 500 }),
    )
    const hello = searchParams.get('hello')
    if (hello !== null) await fetch(`${env.REGISTRY}/hello/${hello}`)
    return answer
  },
}

async function act(
  lb: LoadBalancer,
  action: string,
  serviceId: string,
  search: URLSearchParams,
  execution: Execution,
): Promise<string> {
  if (action === 'fetch') {
    const caller = search.has('until') ? lb.with({ waitUntil: (promise) => execution.waitUntil(promise) }) : lb
    const response = await caller.fetch(`http://${serviceId}/x`)
    await response.text()
    return response.headers.get('x-instance') ?? ''
  }
  if (action === 'remove') {
    await lb.remove(serviceId)
    return 'removed'
  }
  const timeoutMs = search.get('timeoutMs')
  const options = timeoutMs === null ? {} : { timeoutMs: Number(timeoutMs) }
  const lease = action === 'pick' ? lb.pick(serviceId) : await lb.choose(serviceId, {}, options)
  lease?.done()
  return lease?.instance.instanceId ?? 'no instance'
}
