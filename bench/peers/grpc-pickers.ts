/** @module grpc-js's pickers, as its balancers make them for subchannels that are all connected; nothing is sent. */

import { load } from './installed.js'
import type { Peer } from './peer.js'

interface Picker {
  pick(args: object): { subchannel: { port: number } }
}

interface Balancer {
  updateAddressList(list: object, config: object, options: object, note: string): boolean
  /** Of weighted_round_robin. */
  readonly children: ReadonlyMap<string, object>
  updateWeight(child: object, report: object): void
  calculateAndUpdateState(): void
}

const READY = 2
const ARGS = { metadata: {}, extraPickInfo: {} }

export const grpcRoundRobin: Peer = {
  name: 'grpc-js round_robin',
  of(n) {
    const picker = balancerOf({ round_robin: {} }, n).picker()
    return () => picker.pick(ARGS).subchannel.port
  },
}

export const grpcWeightedRoundRobin: Peer = {
  name: 'grpc-js weighted_round_robin',
  note: 'a queue by deadlines, EDF; each choice comes with a reader of the load report that the call may bring',
  of(n, weightOf) {
    const { balancer, picker } = balancerOf({ weighted_round_robin: { blackout_period: '0s' } }, n)
    let i = 0
    for (const child of balancer.children.values()) {
      balancer.updateWeight(child, { rps_fractional: weightOf(i++), application_utilization: 1, eps: 0 })
    }
    balancer.calculateAndUpdateState()
    const weighted = picker()
    return () => weighted.pick(ARGS).subchannel.port
  },
}

function balancerOf(config: object, n: number): { balancer: Balancer; picker(): Picker } {
  load('@grpc/grpc-js')
  const { createLoadBalancer, parseLoadBalancingConfig } = load('@grpc/grpc-js/build/src/load-balancer.js')
  let latest: Picker | undefined
  const parsed = parseLoadBalancingConfig(config)
  const balancer: Balancer = createLoadBalancer(parsed, {
    createSubchannel: ({ port }: { port: number }) => connected(port),
    updateState(state: number, picker: Picker) {
      latest = state === READY ? picker : undefined
    },
    requestReresolution() {},
    addChannelzChild() {},
    removeChannelzChild() {},
  })
  const endpoints = Array.from({ length: n }, (_, i) => ({ addresses: [{ host: '10.0.0.1', port: i + 1 }] }))
  balancer.updateAddressList({ ok: true, value: endpoints }, parsed, {}, '')
  return {
    balancer,
    picker() {
      if (latest === undefined) throw new Error('this grpc-js has no picker for subchannels that are connected')
      return latest
    },
  }
}

/** What the balancers ask of a subchannel. */
function connected(port: number): object {
  const subchannel = {
    port,
    getConnectivityState: () => READY,
    getAddress: () => `10.0.0.1:${port}`,
    isHealthy: () => true,
    startConnecting() {},
    ref() {},
    unref() {},
    addConnectivityStateListener() {},
    removeConnectivityStateListener() {},
    addHealthStateWatcher() {},
    removeHealthStateWatcher() {},
    getChannelzRef: () => ({}),
    realSubchannelEquals: (other: object) => other === subchannel,
    getWrappedSubchannel: () => subchannel,
  }
  return subchannel
}
