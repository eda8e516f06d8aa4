import { attemptsOf, createLoadBalancer, type DiscoveryClient } from 'evenkeel'

declare const Deno: {
  env: { get(name: string): string | undefined }
  serve(options: { port: number; hostname: string }, handler: (request: Request) => Promise<Response>): unknown
}

/** Origins from the environment, looked up again every ten seconds: any registry could stand here. */
const environment: DiscoveryClient = {
  name: 'environment',
  get: () => (Deno.env.get('ORIGINS') ?? '').split(',').filter((url) => url !== ''),
}

const lb = createLoadBalancer({
  services: {
    origin: { discovery: environment, cache: { ttlMs: 10_000 }, policy: 'least-request', noInstance: 'response' },
  },
})

Deno.serve({ port: Number(Deno.env.get('PORT') ?? 8000), hostname: '127.0.0.1' }, async (request) => {
  const { pathname, search } = new URL(request.url)
  if (pathname === '/_stats') return Response.json(lb.stats())
  const answer = await lb.fetch(new Request(`http://origin${pathname}${search}`, request))
  const response = new Response(answer.body, answer)
  response.headers.set('x-served-by', attemptsOf(answer).at(-1)?.instance.instanceId ?? 'nobody')
  return response
})
