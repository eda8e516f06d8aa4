/** @module SCLB's WeightedServiceInstanceListSupplier, alone and below retry-aware. */

import { expect } from 'chai'
import { roundRobin } from 'evenkeel'
import file from '../../vectors/sclb-weighted.json'
import { candidates, expectRefusal, pick, placed, replayed, tagged, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface WeightedVector extends Vector {
  weights: (string | null)[]
  previous?: number
  start: number
  size?: number
  sequence?: number[]
  picks?: (number | null)[]
  error?: string
}

export const cases = replayed<WeightedVector>(
  file,
  ({ weights, previous, start, size, sequence, picks = [], error }) => {
    const instances = placed(tagged('weight', weights))
    return withService({ instances, suppliers: ['weighted'], policy: roundRobin({ start }) }, async (service) => {
      const tried = previous === undefined ? undefined : service.instances()[previous]
      const request = tried === undefined ? {} : { previous: [tried] }
      if (error !== undefined) return expectRefusal(() => pick(service, request))
      const list = await candidates(service, request)
      expect(list.length).to.equal(size)
      if (sequence !== undefined) expect(list).to.deep.equal(sequence)
      expect(picks.map(() => pick(service, request))).to.deep.equal(picks)
    })
  },
)
