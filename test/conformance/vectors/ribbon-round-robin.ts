/** @module Ribbon's RoundRobinRule over lists that change. */

import { expect } from 'chai'
import { roundRobin } from 'evenkeel'
import file from '../../vectors/ribbon-round-robin.json'
import { Ribbon, type RibbonVector, replayedRibbon } from './ribbon.js'

interface RoundRobinVector extends RibbonVector {
  readonly phases: readonly { size: number; down?: number[]; picks: (number | null)[] }[]
}

const SERVERS = 30

export const cases = replayedRibbon<RoundRobinVector>(file, async ({ phases }) => {
  const ribbon = new Ribbon(roundRobin(), SERVERS)
  for (const { size, down, picks } of phases) {
    await ribbon.list([...Array(size).keys()], down ?? [])
    expect(picks.map(() => ribbon.pick())).to.deep.equal(picks)
  }
  await ribbon.close()
})
