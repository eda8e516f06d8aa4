/** @module `pick()` and `done()` as users call them, and the same of a balancer over objects. */

import { createLoadBalancer, type Lease, type LoadBalancer, type Service } from 'evenkeel'
import type { Contestant } from '../harness/rounds.js'
import { ObjectBalancer, type ObjectLease } from '../peers/object-balancer.js'
import type { Choose } from '../peers/object-policies.js'
import { LATENCIES_MS, scattered } from '../peers/scattered.js'

const OPS = 5_000

export function balancerOf(n: number, policy: string, weightOf?: (i: number) => number): LoadBalancer<'bench'> {
  const instances = Array.from({ length: n }, (_, i) => ({
    host: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    port: 8080,
    ...(weightOf !== undefined && { weight: weightOf(i) }),
  }))
  const suppliers = weightOf === undefined ? [] : ['weighted']
  return createLoadBalancer({ seed: 42, services: { bench: { instances, suppliers, policy } } })
}

/**
 * Each lease is done after the next pick: one that ended where it began would never have to exist, and compilers know.
 */
export function throughService(name: string, service: Service, ops = OPS): Contestant {
  let lease = service.pick() as Lease
  return {
    name,
    ops,
    run() {
      let sum = 0
      for (let op = 0; op < ops; op++) {
        const next = service.pick() as Lease
        lease.done()
        lease = next
        sum += lease.instance.port
      }
      return sum
    },
  }
}

export function throughBalancer(name: string, lb: LoadBalancer<'bench'>): Contestant {
  let lease = lb.pick('bench') as Lease
  return {
    name,
    ops: OPS,
    run() {
      let sum = 0
      for (let op = 0; op < OPS; op++) {
        const next = lb.pick('bench') as Lease
        lease.done()
        lease = next
        sum += lease.instance.port
      }
      return sum
    },
  }
}

export function throughObjects(
  name: string,
  choose: Choose,
  timed: boolean,
): { contestant: Contestant; balancer: ObjectBalancer } {
  const balancer = new ObjectBalancer(choose, timed)
  let lease = balancer.pick()
  const contestant: Contestant = {
    name,
    ops: OPS,
    run() {
      let sum = 0
      for (let op = 0; op < OPS; op++) {
        const next = balancer.pick()
        lease.done()
        lease = next
        sum += lease.instance.id
      }
      return sum
    },
  }
  return { contestant, balancer }
}

/** Requests in flight and latencies from before: three picks an instance, of which two thirds end, by chance. */
export function occupy(pick: () => Lease | ObjectLease | undefined, n: number): void {
  const held = Array.from({ length: 3 * n }, pick)
  for (const [i, lease] of held.entries()) {
    if (scattered(i, 3) > 0) lease?.done({ latencyMs: LATENCIES_MS[i & 1023] as number })
  }
}
