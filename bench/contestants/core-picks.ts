/**
 * @module Loops around one call into the core, and the same around a choice among objects. The core answers a number:
 * `core` stops there, `instance` looks up the object too, so that it ends with what `objects` has.
 */

import { ENDED_SUCCESS } from '../../assembly/layout.js'
import type { CoreExports, Pointer } from '../../bindings/core/exports.js'
import type { RawService } from '../harness/raw-core.js'
import type { Contestant } from '../harness/rounds.js'
import { type Backend, type Choose, observe } from '../peers/object-policies.js'
import { LATENCIES_MS, scattered } from '../peers/scattered.js'

const OPS = 20_000
const DECAY_MS = 10_000
const DEFAULT_RTT_MS = 30

/** Policies that look at no load: the pick alone. */
export function unloaded(
  n: number,
  pick: (block: Pointer, list: Pointer) => number,
  { block, list }: RawService,
  instances: readonly Backend[],
  choose: Choose,
): readonly Contestant[] {
  return [
    {
      name: `core ${n}`,
      ops: OPS,
      run() {
        let sum = 0
        for (let op = 0; op < OPS; op++) sum += pick(block, list)
        return sum
      },
    },
    {
      name: `instance ${n}`,
      ops: OPS,
      run() {
        let sum = 0
        for (let op = 0; op < OPS; op++) sum += (instances[pick(block, list)] as Backend).id
        return sum
      },
    },
    {
      name: `objects ${n}`,
      ops: OPS,
      run() {
        let sum = 0
        for (let op = 0; op < OPS; op++) sum += choose(0).id
        return sum
      },
    },
  ]
}

/**
 * Policies that look at load: each pick is counted in flight and ends after the next one, `timed` with a latency.
 * Time goes on by 10 µs a pick; nobody reads a clock.
 */
export function loaded(
  n: number,
  core: CoreExports,
  service: RawService,
  instances: readonly Backend[],
  choose: Choose,
  timed: boolean,
): readonly Contestant[] {
  const { complete, completeAfter, leaseLeastRequest, leasePeakEwma } = core
  const { block, list } = service
  occupy(core, service, instances)
  const lease = timed
    ? (nowMs: number) => leasePeakEwma(block, list, nowMs, DECAY_MS, DEFAULT_RTT_MS)
    : () => leaseLeastRequest(block, list, 2)
  let coreMs = 1_000
  let row = lease(coreMs)
  let objectMs = 1_000
  let backend = choose(objectMs)
  backend.inFlight++
  return [
    {
      name: `core ${n}`,
      ops: OPS,
      run() {
        let sum = 0
        for (let op = 0; op < OPS; op++) {
          coreMs += 0.01
          const next = lease(coreMs)
          const ms = LATENCIES_MS[op & 1023] as number
          if (timed) completeAfter(block, row, ENDED_SUCCESS, ms, ms, coreMs, DECAY_MS, 1)
          else complete(block, row, ENDED_SUCCESS)
          row = next
          sum += row
        }
        return sum
      },
    },
    {
      name: `instance ${n}`,
      ops: OPS,
      run() {
        let sum = 0
        for (let op = 0; op < OPS; op++) {
          coreMs += 0.01
          const next = lease(coreMs)
          const ms = LATENCIES_MS[op & 1023] as number
          if (timed) completeAfter(block, row, ENDED_SUCCESS, ms, ms, coreMs, DECAY_MS, 1)
          else complete(block, row, ENDED_SUCCESS)
          row = next
          sum += (instances[row] as Backend).id
        }
        return sum
      },
    },
    {
      name: `objects ${n}`,
      ops: OPS,
      run() {
        let sum = 0
        for (let op = 0; op < OPS; op++) {
          objectMs += 0.01
          const next = choose(objectMs)
          next.inFlight++
          backend.inFlight--
          backend.successes++
          if (timed) observe(backend, LATENCIES_MS[op & 1023] as number, objectMs)
          backend = next
          sum += backend.id
        }
        return sum
      },
    },
  ]
}

/** Up to three requests in flight and a latency for each instance, the same on both sides. */
function occupy(core: CoreExports, { block }: RawService, instances: readonly Backend[]): void {
  for (const backend of instances) {
    const ms = LATENCIES_MS[backend.id & 1023] as number
    core.acquireRow(block, backend.id)
    core.completeAfter(block, backend.id, ENDED_SUCCESS, ms, ms, 1, DECAY_MS, 1)
    observe(backend, ms, 1)
    backend.inFlight = scattered(backend.id, 4)
    for (let held = 0; held < backend.inFlight; held++) core.acquireRow(block, backend.id)
  }
}
