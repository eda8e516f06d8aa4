/** Services for tests of Ribbon's rules: who is alive, tripped and busy is said by host name. */

import { createLoadBalancer, type InstanceInit, type LoadBalancerOptions, type Service } from '../../bindings/index.js'
import type { Compat, ServiceOptions } from '../../bindings/types/options.js'

export interface Bench {
  readonly service: Service
  readonly time: { now: number }
  /** Picks and completes; the picked hosts, '-' for none. */
  picks(count: number, request?: object): string
  /** A lease at this host that stays open. */
  hold(host: string, count?: number): void
  /** Completes one request at this host, which took so long. */
  answer(host: string, latencyMs: number, outcome?: object): void
  /** Three connection failures in a row. */
  trip(host: string): void
  /** Checks everybody's health: these are down. */
  down(...hosts: string[]): Promise<void>
}

/** Instances named by letters; `a1` is host a in zone 1. */
export function listOf(text: string): InstanceInit[] {
  return text.split(' ').map((word) => ({
    url: `http://${word[0]}:80`,
    ...(word.length > 1 && { zone: word.slice(1) }),
  }))
}

export function bench(
  list: string,
  policy: NonNullable<ServiceOptions['policy']>,
  compat: Compat = [],
  balancer: Omit<LoadBalancerOptions, 'services'> = {},
  options: ServiceOptions = {},
): Bench {
  const time = { now: 1_000 }
  let dead: readonly string[] = []
  const lb = createLoadBalancer({
    seed: 1,
    clock: () => time.now,
    fetch: async (input) =>
      new Response('', { status: dead.includes(new URL((input as Request).url ?? input).hostname) ? 500 : 200 }),
    ...balancer,
    compat,
    services: { s: { instances: listOf(list), policy, ...options } },
  })
  const service = lb.service('s')
  const at = (host: string) => {
    const lease = service.pick({ previous: service.instances().filter((instance) => instance.host !== host) })
    if (lease?.instance.host !== host) throw new Error(`no lease at ${host}`)
    return lease
  }
  return {
    service,
    time,
    picks(count, request = {}) {
      const one = () => {
        const lease = service.pick(request)
        lease?.done({ cancelled: true })
        return lease?.instance.host ?? '-'
      }
      return Array.from({ length: count }, one).join('')
    },
    hold(host, count = 1) {
      for (let i = 0; i < count; i++) at(host)
    },
    answer: (host, latencyMs, outcome = {}) => at(host).done({ latencyMs, ...outcome }),
    trip(host) {
      for (let i = 0; i < 3; i++) at(host).done({ error: refused(), latencyMs: 1 })
    },
    async down(...hosts) {
      dead = hosts
      await service.check()
    },
  }
}

export const refused = () => Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })

/** How often each host was picked. */
export function tally(picks: string): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const host of picks) counted[host] = (counted[host] ?? 0) + 1
  return counted
}
