/** @module Which packages do the work of which policy. */

import { grpcRoundRobin, grpcWeightedRoundRobin } from './grpc-pickers.js'
import { consistentHash, hashring } from './hash-rings.js'
import { FEW_KEYS } from './keys.js'
import { p2cBalancer, randomBalancer } from './load-balancers.js'
import {
  loadbalanceRandom,
  loadbalanceRotation,
  loadbalanceWeighted,
  loadbalanceWeightedRandom,
} from './loadbalance.js'
import {
  moleculerCpuUsage,
  moleculerLatency,
  moleculerRandom,
  moleculerRoundRobin,
  moleculerShard,
} from './moleculer.js'
import type { Peer } from './peer.js'
import { undiciPool } from './undici-selection.js'
import { smoothPeers } from './weighted-round-robin.js'
import { wrrPool } from './wrr-pool.js'

export interface Contest {
  readonly policy: string
  readonly options?: Readonly<Record<string, unknown>>
  readonly weighted?: true
  /** Knows nothing of requests: compared by the call into the core. */
  readonly unloaded?: true
  /** How it is judged: against loadbalance's walk of an array, against each peer, or not at all. */
  readonly judged?: 'walk' | 'each'
  /** How many keys are asked for; MANY_KEYS if not given. */
  readonly keys?: number
  readonly peers: readonly Peer[]
}

const timed = [moleculerLatency, moleculerCpuUsage]
const hashed = [hashring, consistentHash, moleculerShard]

/** By the name of the case. */
export const CONTESTS: Readonly<Record<string, Contest>> = {
  'round-robin': {
    policy: 'round-robin',
    unloaded: true,
    judged: 'walk',
    peers: [loadbalanceRotation, moleculerRoundRobin, grpcRoundRobin, undiciPool],
  },
  'weighted round-robin': {
    policy: 'round-robin',
    weighted: true,
    unloaded: true,
    judged: 'walk',
    peers: [loadbalanceWeighted, wrrPool, grpcWeightedRoundRobin],
  },
  random: { policy: 'random', unloaded: true, peers: [loadbalanceRandom, moleculerRandom, randomBalancer] },
  'weighted random': { policy: 'random', weighted: true, unloaded: true, peers: [loadbalanceWeightedRandom] },
  'least-request': { policy: 'least-request', judged: 'each', peers: [p2cBalancer, moleculerCpuUsage] },
  'least-connections': { policy: 'least-connections', judged: 'each', peers: [moleculerCpuUsage] },
  'peak-ewma': { policy: 'peak-ewma', judged: 'each', peers: timed },
  'least-response-time': { policy: 'least-response-time', judged: 'each', peers: timed },
  'smooth-round-robin': { policy: 'smooth-round-robin', weighted: true, judged: 'each', peers: [smoothPeers] },
  edf: { policy: 'edf', weighted: true, judged: 'each', peers: [grpcWeightedRoundRobin] },
  stride: { policy: 'stride', weighted: true, judged: 'each', peers: [grpcWeightedRoundRobin] },
  'source-hash': { policy: 'source-hash', judged: 'each', peers: hashed },
  'ring-hash': { policy: 'ring-hash', judged: 'each', peers: [hashring, moleculerShard] },
  'ring-hash, 40 points each': {
    policy: 'ring-hash',
    options: { pointsPerInstance: 40 },
    judged: 'each',
    peers: [consistentHash],
  },
  'ring-hash, 512 keys': { policy: 'ring-hash', keys: FEW_KEYS, peers: hashed },
  maglev: { policy: 'maglev', judged: 'each', peers: hashed },
  rendezvous: { policy: 'rendezvous', judged: 'each', peers: hashed },
  jump: { policy: 'jump', judged: 'each', peers: hashed },
}
