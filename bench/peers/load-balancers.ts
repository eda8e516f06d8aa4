/** @module npm `load-balancers`: answers indexes. */

import { load } from './installed.js'
import type { Peer } from './peer.js'

interface Balancer {
  pick(): number
}

export const randomBalancer: Peer = {
  name: 'load-balancers',
  note: 'an index, no object',
  of(n) {
    const balancer: Balancer = new (load('load-balancers').RandomBalancer)(n)
    return () => balancer.pick()
  },
}

export const p2cBalancer: Peer = {
  name: 'load-balancers P2C',
  note: 'an index; counts what it chose, nothing ends',
  endsNothing: true,
  of(n) {
    const balancer: Balancer = new (load('load-balancers').P2cBalancer)(n)
    return () => balancer.pick()
  },
}
