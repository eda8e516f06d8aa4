import { createLoadBalancer, type InstanceInit, type LoadBalancer } from 'evenkeel'

interface Env {
  /** JSON: the origins, as `instances` of a service. */
  ORIGINS: string
}

interface Context {
  waitUntil(promise: Promise<unknown>): void
}

// One balancer an isolate: what it learns of the origins serves all requests.
let lb: LoadBalancer<'origin'> | undefined

function balancer(env: Env): LoadBalancer<'origin'> {
  lb ??= createLoadBalancer({
    services: {
      origin: {
        instances: JSON.parse(env.ORIGINS) as InstanceInit[],
        suppliers: [{ type: 'hint', header: 'x-version' }],
        attemptTimeoutMs: 2_000,
        noInstance: 'response',
      },
    },
  })
  return lb
}

export default {
  /** Any path goes to one of the origins; `x-version: canary` to those that are tagged with it. */
  async fetch(request: Request, env: Env, context: Context): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    if (pathname === '/_explain') {
      return Response.json(await balancer(env).explain('origin', { headers: request.headers }))
    }
    const { fetch } = balancer(env).with({ waitUntil: (promise) => context.waitUntil(promise) })
    return fetch(new Request(`http://origin${pathname}${search}`, request))
  },
}
