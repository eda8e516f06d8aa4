/** The weights of the published Ribbon's WeightedResponseTimeRule, and whom each draw falls to. */

import { describe, expect, it } from 'vitest'
import { LIST_PLAN } from '../../assembly/layout.js'
import { FORMULA_SUM, RIBBON_LIFETIME, RIBBON_ZERO_FIRST } from '../../assembly/ribbon-flags.js'
import { VERDICT_HEALS } from '../../assembly/server-stats-layout.js'
import type { Core } from '../../bindings/core/core.js'
import file from '../vectors/ribbon-weighted-response-time.json' with { type: 'json' }
import { CoreService } from './core-service.js'
import { CORES } from './cores.js'

interface Vector {
  readonly id: string
  readonly times: readonly (readonly number[])[]
  readonly accumulated: readonly number[]
  readonly size?: number
  readonly down?: readonly number[]
  readonly draws: readonly number[]
  readonly picks: readonly (number | null)[]
  /** 0: it went in turn instead, which test/conformance replays. */
  readonly drawn: number
}

const vectors = file.vectors as readonly Vector[]
const drawing = vectors.filter(({ drawn }) => drawn > 0)
/** What stands in response-weights.ts before the sums. */
const SUMS = 24

/** The sums after an update, and the owner of a draw of [0, 1). */
function weighed(core: Core, times: Vector['times']) {
  const { exports } = core
  const service = new CoreService(
    core,
    times.map(() => 1),
  )
  const { block } = service
  exports.openServerStats(block, 3, 10_000, 30_000, 600_000, 1_000, 300_000)
  exports.openPublishedWeights(block)
  for (const [row, ofOne] of times.entries()) {
    for (const ms of ofOne) exports.endRequest(block, row, 1, ms, VERDICT_HEALS)
  }
  const list = service.list([...times.keys()])
  const flags = RIBBON_LIFETIME | RIBBON_ZERO_FIRST
  exports.pickByResponseTime(block, list, list, 1, 30_000, 30_000, FORMULA_SUM, flags)
  const at = ((core.i32[(list + LIST_PLAN) >>> 2] as number) + SUMS) >>> 3
  const sums = Array.from(times, (_, i) => core.f64[at + i] as number)
  const total = sums.at(-1) ?? 0
  return { sums, owner: (draw: number) => exports.ownerByResponseTime(list, draw * total, flags), service }
}

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it(`${vectors.length} sets of response times: the weights, summed up`, () => {
    for (const { id, times, accumulated } of vectors) {
      const { sums, service } = weighed(core, times)
      expect(sums, id).toEqual(accumulated)
      service.free()
    }
  })

  it(`${drawing.length} rows of draws: whom each falls to, the dead passed over with the next`, () => {
    for (const { id, times, down = [], draws, picks, drawn } of drawing) {
      const { owner, service } = weighed(core, times)
      // Past the given ones the oracle has laid draws of 0.999.
      const taken = Array.from({ length: drawn }, (_, i) => owner(draws[i] ?? 0.999))
      expect(
        taken.filter((place) => !down.includes(place)),
        id,
      ).toEqual(picks)
      service.free()
    }
  })
})
