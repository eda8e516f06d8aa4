/**
 * @module Ribbon's WeightedResponseTimeRule. Where it draws, ours draws otherwise: whoever is alive and has some weight
 * may be picked, and nobody else. test/unit/ribbon-weighted-response-time.test.ts has the weights, and every draw.
 */

import { expect } from 'chai'
import { weightedResponseTime } from 'evenkeel'
import file from '../../vectors/ribbon-weighted-response-time.json'
import { Ribbon, type RibbonVector, replayedRibbon } from './ribbon.js'

interface WeightsVector extends RibbonVector {
  readonly times: readonly (readonly number[])[]
  readonly accumulated: readonly number[]
  readonly size?: number
  readonly down?: readonly number[]
  readonly picks: readonly (number | null)[]
  readonly drawn: number
}

const UPDATE_MS = 30_000

export const cases = replayedRibbon<WeightsVector>(file, async (vector) => {
  const { times, accumulated, size = times.length, down = [], picks, drawn } = vector
  const ribbon = new Ribbon(weightedResponseTime(), Math.max(times.length, size), { checks: down.length > 0 })
  await ribbon.list([...times.keys()])
  for (const [place, ofOne] of times.entries()) {
    for (const ms of ofOne) {
      ribbon.begin(place)
      ribbon.end('ok', place, ms)
    }
  }
  ribbon.wait(UPDATE_MS)
  ribbon.begin(0)
  await ribbon.list([...Array(size).keys()], down)
  const picked = picks.map(() => ribbon.pick())
  await ribbon.close()
  if (drawn === 0) {
    expect(picked).to.deep.equal(picks)
    return
  }
  const weighing = accumulated.flatMap((sum, place) => (sum > (accumulated[place - 1] ?? 0) ? [place] : []))
  const possible = weighing.filter((place) => !down.includes(place))
  for (const place of picked) expect(place).to.be.oneOf(possible)
})
