/** @module A policy's own work in a service, and `pick()` and `done()` around it. */

import { ENDED_SUCCESS } from '../../assembly/layout.js'
import { createLoadBalancer } from '../../bindings/index.js'
import type { BalancedService } from '../../bindings/service/service.js'
import type { TypedOptions } from '../../bindings/types/options.js'
import type { PickRequest } from '../../bindings/types/request.js'
import type { Choice } from '../peers/peer.js'
import { LATENCIES_MS, scattered } from '../peers/scattered.js'

/** Requests that carry what policies may go by: a key, a client's address. */
export function requestsOf(keys: readonly string[]): readonly PickRequest[] {
  return keys.map((key, i) => ({ key, attributes: { clientAddress: `10.${(i >> 8) & 255}.${i & 255}.7` } }))
}

/** From sources, so that one can look inside. Instances have seen traffic: latencies, some requests in flight. */
export function serviceOf(policy: string | TypedOptions, n: number, weightOf?: (i: number) => number): BalancedService {
  const instances = Array.from({ length: n }, (_, i) => ({
    host: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    port: 8080,
    ...(weightOf !== undefined && { weight: weightOf(i) }),
  }))
  const suppliers = weightOf === undefined ? [] : ['weighted']
  const lb = createLoadBalancer({ seed: 42, services: { bench: { instances, suppliers, policy } } })
  const service = lb.service('bench') as BalancedService
  const held = Array.from({ length: 3 * n }, (_, i) =>
    service.pick({ key: `user-${i}`, attributes: { clientAddress: `10.0.0.${i & 255}` } }),
  )
  for (const [i, lease] of held.entries()) {
    if (scattered(i, 3) > 0) lease?.done({ latencyMs: LATENCIES_MS[i & 1023] as number })
  }
  return service
}

/**
 * What peers do too: an instance is chosen, and the request before it ends, with a latency where the policy asks for
 * times. No lease is made and no clock is read: time goes on by 10 µs a choice.
 */
export function choiceOf(service: BalancedService, requests: readonly PickRequest[]): Choice {
  const { picker, clock } = service
  const requestOf = (op: number) => requests[op & (requests.length - 1)] as PickRequest
  const { members } = service.roster
  const { block, byRow } = members
  const { complete, completeAfter } = picker.core.exports
  const { averaging, engines, timed } = picker
  const { decayMs } = averaging
  const peak = averaging.peak === undefined ? 0 : 1
  const records = engines.recorders.length > 0
  const outcome = {}
  let nowMs = clock()
  let row = picker.pickRow(requestOf(0), nowMs, undefined)
  return (op) => {
    nowMs += 0.01
    const next = picker.pickRow(requestOf(op), nowMs, undefined)
    if (timed) {
      const ms = LATENCIES_MS[op & 1023] as number
      completeAfter(block, row, ENDED_SUCCESS, ms, ms, nowMs, decayMs, peak)
      if (records) engines.ended(row, { outcome, failed: false, latencyMs: ms, nowMs })
    } else {
      complete(block, row, ENDED_SUCCESS)
    }
    row = next
    return byRow[row]?.port as number
  }
}

/** As users call it: each lease is done after the next pick. */
export function pickOf(service: BalancedService, requests: readonly PickRequest[]): Choice {
  const requestOf = (op: number) => requests[op & (requests.length - 1)] as PickRequest
  let lease = service.pick(requestOf(0))
  return (op) => {
    const next = service.pick(requestOf(op))
    lease?.done()
    lease = next
    return lease?.instance.port as number
  }
}
