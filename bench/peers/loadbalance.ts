/** @module npm `loadbalance`: its weighted engines walk or draw from an array expanded by the weights. */

import { load } from './installed.js'
import { type Backend, backends } from './object-policies.js'
import type { Peer } from './peer.js'

interface Engine {
  pick(): Backend
}

export const loadbalanceRotation: Peer = {
  name: 'loadbalance',
  of(n) {
    const engine: Engine = load('loadbalance').roundRobin(backends(n).map(unweighted))
    return () => engine.pick().id
  },
}

export const loadbalanceWeighted: Peer = {
  name: 'loadbalance',
  note: 'an array expanded by the weights',
  of(n, weightOf) {
    const engine: Engine = load('loadbalance').roundRobin(backends(n, weightOf).map(entry))
    return () => engine.pick().id
  },
}

export const loadbalanceRandom: Peer = {
  name: 'loadbalance',
  note: 'Mersenne Twister',
  of(n) {
    const engine: Engine = load('loadbalance').random(backends(n).map(unweighted), 1)
    return () => engine.pick().id
  },
}

export const loadbalanceWeightedRandom: Peer = {
  name: 'loadbalance',
  note: 'Mersenne Twister; an array expanded by the weights',
  of(n, weightOf) {
    const engine: Engine = load('loadbalance').random(backends(n, weightOf).map(entry), 1)
    return () => engine.pick().id
  },
}

/** What has a weight is taken for an entry of a weighted pool. */
function unweighted({ id }: Backend): { id: number } {
  return { id }
}

function entry(object: Backend): { object: Backend; weight: number } {
  return { object, weight: object.weight }
}
