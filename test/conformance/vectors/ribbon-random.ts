/** @module Ribbon's RandomRule, for every index that it can draw. */

import { expect } from 'chai'
import { random } from 'evenkeel'
import file from '../../vectors/ribbon-random.json'
import { Ribbon, type RibbonVector, replayedRibbon } from './ribbon.js'

interface RandomVector extends RibbonVector {
  readonly size: number
  readonly down: readonly number[]
  /** By index drawn. */
  readonly picks: readonly (number | null)[]
}

const MOST_DRAWS = 200

export const cases = replayedRibbon<RandomVector>(file, async ({ size, down, picks }) => {
  const ribbon = new Ribbon(random(), size)
  // It draws the same, and with everybody up what it picks is what was drawn.
  const twin = new Ribbon(random(), size)
  await ribbon.down(down)
  await twin.down([])
  const drawn = new Set<number>()
  for (let draws = 0; drawn.size < picks.length; draws++) {
    expect(draws, 'draws').to.be.lessThan(MOST_DRAWS)
    const index = twin.pick() ?? 0
    drawn.add(index)
    expect(ribbon.pick(), `index ${index}`).to.equal(picks[index])
  }
  await ribbon.close()
  await twin.close()
})
