/** The weights of the published Ribbon's WeightedResponseTimeRule, and whom each draw falls to. */

import { describe, expect, it } from 'vitest'
import { FORMULA_SUM, RIBBON_LIFETIME, RIBBON_ZERO_FIRST } from '../../assembly/ribbon-flags.js'
import file from '../vectors/ribbon-weighted-response-time.json' with { type: 'json' }
import { CORES } from './cores.js'
import { weighed } from './weighed.js'

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
const FLAGS = RIBBON_LIFETIME | RIBBON_ZERO_FIRST

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it(`${vectors.length} sets of response times: the weights, summed up`, () => {
    for (const { id, times, accumulated } of vectors) {
      const { sums, service } = weighed(core, times, FORMULA_SUM, FLAGS)
      expect(sums, id).toEqual(accumulated)
      service.free()
    }
  })

  it(`${drawing.length} rows of draws: whom each falls to, the dead passed over with the next`, () => {
    for (const { id, times, down = [], draws, picks, drawn } of drawing) {
      const { owner, service } = weighed(core, times, FORMULA_SUM, FLAGS)
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
