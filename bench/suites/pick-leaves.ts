/** @module What a warm `pick()` and `done()` leave behind: objects allocated, and how often the clock was read. */

import { createLoadBalancer, type Lease } from 'evenkeel'
import { allocationsOf } from '../harness/allocations.js'
import { caseOf, type Found, type Suite } from '../harness/suite.js'

const PICKS = 1_000

export const pickLeaves: Suite = {
  cases: [{ name: 'round-robin' }, { name: 'peak-ewma' }],
  // Until compilers, which work beside the program, have made of it what they will.
  effort: { rounds: 1, calls: 1, warmUpMs: 1_000 },
  async measure(policy, { warmUpMs }) {
    let clockReads = 0
    const clock = () => {
      clockReads++
      return clockReads / 100
    }
    const instances = Array.from({ length: 10 }, (_, i) => `http://10.0.0.${i}:8080`)
    const service = createLoadBalancer({ clock, services: { bench: { instances, policy } } }).service('bench')
    let lease = service.pick() as Lease
    const pick = (times: number) => {
      for (let i = 0; i < times; i++) {
        const next = service.pick() as Lease
        lease.done()
        lease = next
      }
    }
    for (const end = performance.now() + warmUpMs; performance.now() < end; ) pick(PICKS)
    const before = clockReads
    const sizes = await allocationsOf(() => pick(PICKS))
    return { timings: {}, figures: { clockReads: (clockReads - before) / PICKS, ...perPick(sizes) } }
  },
  judge: (found) => [
    {
      what: 'pick() + done(), round-robin: clock reads and allocations',
      budget: 'none; 1 object',
      measured: told(found, 'round-robin'),
      met: figure(found, 'round-robin', 'clockReads') === 0 && figure(found, 'round-robin', 'allocations') === 1,
    },
    { what: 'pick() + done(), peak-ewma: clock reads and allocations', measured: told(found, 'peak-ewma') },
  ],
}

/** The profiler itself allocates too, but nothing a thousand times. */
function perPick(sizes: readonly number[]): { allocations: number; bytes: number } {
  const counts = new Map<number, number>()
  for (const size of sizes) counts.set(size, (counts.get(size) ?? 0) + 1)
  let allocations = 0
  let bytes = 0
  for (const [size, count] of counts) {
    const each = Math.round(count / PICKS)
    allocations += each
    bytes += each * size
  }
  return { allocations, bytes }
}

function figure(found: Found, name: string, key: string): number {
  return caseOf(found, name).figures?.[key] ?? Number.NaN
}

function told(found: Found, name: string): string {
  const reads = figure(found, name, 'clockReads')
  const allocations = figure(found, name, 'allocations')
  return `${reads === 0 ? 'none' : reads}; ${allocations} (${figure(found, name, 'bytes')} bytes)`
}
