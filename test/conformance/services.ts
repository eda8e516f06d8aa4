/** @module Services to pick from, and what was picked, as indexes. */

import {
  createLoadBalancer,
  type InstanceInit,
  type LoadBalancerOptions,
  type Service,
  type ServiceOptions,
} from 'evenkeel'

/** Addresses that nothing is sent to. */
export function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `http://10.0.${i >> 8}.${i & 255}:8080`)
}

export function weighing(weights: readonly number[]): InstanceInit[] {
  return addresses(weights.length).map((url, i) => ({ url, weight: weights[i] as number }))
}

/** One service of a balancer of its own, with seed 1 unless another is given. */
export function serviceWith(options: ServiceOptions, balancer: Omit<LoadBalancerOptions, 'services'> = {}): Service {
  return createLoadBalancer({ seed: 1, ...balancer, services: { orders: options } }).service('orders')
}

/** Picks and completes `count` leases. */
export function picks(service: Service, count: number, request = {}): number[] {
  const indexes = indexer(service)
  return Array.from({ length: count }, () => {
    const lease = service.pick(request)
    lease?.done()
    return lease === undefined ? -1 : indexes(lease.instance)
  })
}

/** From an instance to its index in the service's list. */
export function indexer(service: Service): (instance: object) => number {
  const indexes = new Map<object, number>(service.instances().map((instance, i) => [instance, i]))
  return (instance) => indexes.get(instance) ?? -1
}

export function counts(indexes: readonly number[], length: number): number[] {
  const counted = new Array<number>(length).fill(0)
  for (const index of indexes) counted[index] = (counted[index] ?? 0) + 1
  return counted
}

export function inFlight(service: Service): number {
  return service.stats().instances.reduce((sum, instance) => sum + instance.inFlight, 0)
}

/** How all calls ended: successes, failures, cancelled. */
export function endings(service: Service): [number, number, number] {
  const { instances } = service.stats()
  const sum = (key: 'successes' | 'failures' | 'cancelled') => instances.reduce((total, one) => total + one[key], 0)
  return [sum('successes'), sum('failures'), sum('cancelled')]
}

/** A clock that only moves when told. */
export function handClock(startMs = 1_000): { now: () => number; advance: (ms: number) => void } {
  let nowMs = startMs
  return {
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms
    },
  }
}
