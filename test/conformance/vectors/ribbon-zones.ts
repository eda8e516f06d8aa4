/**
 * @module Ribbon's LoadBalancerStats: how zones are doing. Its congestion in percent is (active + tripped) / instances.
 * Which zones are left, and which is drawn, is test/unit/ribbon-zones.test.ts: no service has given loads.
 */

import { expect } from 'chai'
import { roundRobin } from 'evenkeel'
import file from '../../vectors/ribbon-zones.json'
import { Ribbon, type RibbonVector, replayedRibbon } from './ribbon.js'

interface SnapshotVector extends RibbonVector {
  readonly zones: readonly (string | null)[]
  readonly active: readonly number[]
  readonly failures: readonly number[]
  readonly snapshot: Readonly<Record<string, readonly number[]>>
}

const snapshots = { vectors: file.vectors.filter(({ id }) => id.startsWith('zones/snapshot')) }

export const cases = replayedRibbon<SnapshotVector>(snapshots, async ({ zones, active, failures, snapshot }) => {
  const ribbon = new Ribbon(roundRobin(), zones, { serverStats: true })
  await ribbon.list([...zones.keys()])
  for (const place of zones.keys()) ribbon.load(place, active[place] as number, failures[place] as number)
  const found = Object.entries(ribbon.stats().zones).map(([zone, { instances, tripped, active, load }]) => [
    zone,
    [instances, tripped, active, load],
  ])
  expect(Object.fromEntries(found)).to.deep.equal(snapshot)
  await ribbon.close()
})
