/** @module Ribbon's AvailabilityFilteringRule. */

import { availabilityFiltering } from 'evenkeel'
import file from '../../vectors/ribbon-availability-filtering.json'
import { Ribbon, type RibbonVector, replayedRibbon, type Step } from './ribbon.js'
import { availabilityOf } from './ribbon-properties.js'

interface AvailabilityVector extends RibbonVector {
  readonly size: number
  readonly properties: Readonly<Record<string, number | boolean>>
  readonly steps: readonly Step[]
}

export const cases = replayedRibbon<AvailabilityVector>(file, async ({ size, properties, steps }) => {
  const ribbon = new Ribbon(availabilityFiltering(availabilityOf(properties)), size)
  await ribbon.trace(steps)
  await ribbon.close()
})
