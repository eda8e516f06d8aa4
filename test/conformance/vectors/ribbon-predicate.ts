/** @module Ribbon's AbstractServerPredicate and CompositePredicate. */

import { expect } from 'chai'
import { filtering, type PredicateFunction } from 'evenkeel'
import file from '../../vectors/ribbon-predicate.json'
import { placeOf, Ribbon, type RibbonVector, replayedRibbon } from './ribbon.js'

interface PredicateVector extends RibbonVector {
  readonly lists?: readonly (readonly number[])[]
  readonly picks?: readonly (number | null)[]
  readonly size?: number
  readonly primary?: readonly number[]
  readonly fallbacks?: readonly (readonly number[])[]
  readonly least?: number
  readonly share?: number
  readonly eligible?: readonly number[]
}

const SERVERS = 10

const among =
  (places: () => readonly number[]): PredicateFunction =>
  ({ host }) =>
    places().includes(placeOf(host))

async function rotation({ lists = [], picks }: PredicateVector): Promise<void> {
  let passing: readonly number[] = []
  const ribbon = new Ribbon(filtering({ predicates: [among(() => passing)], fallbacks: [] }), SERVERS)
  await ribbon.down([])
  const picked = lists.map((list) => {
    passing = list
    return ribbon.pick()
  })
  expect(picked).to.deep.equal(picks)
  await ribbon.close()
}

async function composite(vector: PredicateVector): Promise<void> {
  const { size = 0, primary = [], fallbacks = [], least, share, eligible = [] } = vector
  const policy = filtering({
    predicates: [among(() => primary)],
    fallbacks: fallbacks.map((places) => [among(() => places)]),
    ...(least !== undefined && { minFiltered: least }),
    ...(share !== undefined && { minFilteredShare: share }),
  })
  const ribbon = new Ribbon(policy, size)
  await ribbon.down([])
  // Each of them in turn, and the first again.
  const expected = [...eligible, eligible[0] ?? null]
  expect(expected.map(() => ribbon.pick())).to.deep.equal(expected)
  await ribbon.close()
}

export const cases = replayedRibbon<PredicateVector>(file, (vector) =>
  vector.lists === undefined ? composite(vector) : rotation(vector),
)
