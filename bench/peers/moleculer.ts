/** @module moleculer's strategies, choosing from endpoints as its registry hands them over; nothing is sent. */

import { load } from './installed.js'
import type { Peer } from './peer.js'
import { scattered } from './scattered.js'

interface Endpoint {
  readonly id: string
  readonly port: number
  readonly node: { readonly hostname: string; readonly cpu: number }
}

interface Strategy {
  select(list: readonly Endpoint[], context?: object): Endpoint
}

/** Above the 10 at which its sampling strategies stop looking. */
const loadOf = (i: number) => 10 + scattered(i, 90)

function endpoints(n: number): Endpoint[] {
  return Array.from({ length: n }, (_, i) => ({
    id: `node-${i}`,
    port: i,
    node: { hostname: `host-${i}`, cpu: loadOf(i) },
  }))
}

function strategyOf(name: string, options: object = {}): Strategy {
  const broker = { localBus: { on() {} } }
  return new (load('moleculer').Strategies[name])({}, broker, options)
}

function unkeyed(strategy: string, name: string, note?: string): Peer {
  return {
    name,
    ...(note !== undefined && { note }),
    of(n) {
      const list = endpoints(n)
      const chosen = strategyOf(strategy)
      return () => chosen.select(list).port
    },
  }
}

export const moleculerRoundRobin = unkeyed('RoundRobin', 'moleculer')
export const moleculerRandom = unkeyed('Random', 'moleculer')
export const moleculerCpuUsage = unkeyed(
  'CpuUsage',
  'moleculer cpu-usage',
  'the least of 3 draws by numbers that heartbeats bring: nothing is counted',
)

export const moleculerLatency: Peer = {
  name: 'moleculer latency',
  note: 'the least of 5 draws by numbers that pings bring: nothing is measured',
  of(n) {
    const list = endpoints(n)
    const strategy = strategyOf('Latency') as Strategy & { updateLatency(payload: object): void }
    for (const [i, { node }] of list.entries())
      strategy.updateLatency({ hostname: node.hostname, avgLatency: loadOf(i) })
    return () => strategy.select(list).port
  },
}

export const moleculerShard: Peer = {
  name: 'moleculer shard',
  note: 'MD5 by node:crypto, 10 points each, looks at one after the other, remembers 1 000 keys',
  ops: (n) => Math.max(200, 20_000 / n),
  of(n, _, keys) {
    const list = endpoints(n)
    const strategy = strategyOf('Shard', { shardKey: 'key' })
    const contexts = keys.map((key) => ({ params: { key } }))
    return (op) => strategy.select(list, contexts[op & (keys.length - 1)]).port
  },
}
