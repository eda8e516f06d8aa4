/** @module SCLB's ZonePreferenceServiceInstanceListSupplier. */

import { expect } from 'chai'
import file from '../../vectors/sclb-zone.json'
import { candidates, placed, replayed, tagged, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface ZoneVector extends Vector {
  zone?: string
  zones: (string | null)[]
  candidates: number[]
}

export const cases = replayed<ZoneVector>(file, ({ zone, zones, candidates: expected }) =>
  withService(
    { instances: placed(tagged('zone', zones)), suppliers: ['zone-preference'] },
    async (service) => {
      expect(await candidates(service)).to.deep.equal(expected)
    },
    zone === undefined ? {} : { zone },
  ),
)
