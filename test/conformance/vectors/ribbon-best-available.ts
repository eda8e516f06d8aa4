/** @module Ribbon's BestAvailableRule. */

import { bestAvailable } from 'evenkeel'
import file from '../../vectors/ribbon-best-available.json'
import { Ribbon, type RibbonVector, replayedRibbon, type Step } from './ribbon.js'

interface BestAvailableVector extends RibbonVector {
  readonly size: number
  readonly steps: readonly Step[]
}

export const cases = replayedRibbon<BestAvailableVector>(file, async ({ size, steps }) => {
  const ribbon = new Ribbon(bestAvailable(), size)
  await ribbon.trace(steps)
  await ribbon.close()
})
