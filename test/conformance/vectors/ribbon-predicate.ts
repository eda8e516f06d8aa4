/** @module Ribbon's AbstractServerPredicate and CompositePredicate. */

import { expect } from 'chai'
import { filtering, type Policy, type PredicateFunction, type Service } from 'evenkeel'
import file from '../../vectors/ribbon-predicate.json'
import { pick, placed, withService } from './replay.js'
import { placeOf, type RibbonVector, replayedRibbon } from './ribbon.js'

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

const SERVERS = 7

const among =
  (places: () => readonly number[]): PredicateFunction =>
  ({ host }) =>
    places().includes(placeOf(host))

function rotation({ lists = [], picks }: PredicateVector): Promise<void> {
  let passing: readonly number[] = []
  return using(filtering({ predicates: [among(() => passing)], fallbacks: [] }), SERVERS, (service) => {
    const picked = lists.map((list) => {
      passing = list
      return pick(service)
    })
    expect(picked).to.deep.equal(picks)
  })
}

function composite(vector: PredicateVector): Promise<void> {
  const { size = 0, primary = [], fallbacks = [], least, share, eligible = [] } = vector
  const policy = filtering({
    predicates: [among(() => primary)],
    fallbacks: fallbacks.map((places) => [among(() => places)]),
    ...(least !== undefined && { minFiltered: least }),
    ...(share !== undefined && { minFilteredShare: share }),
  })
  return using(policy, size, (service) => {
    // Each of them in turn, and the first again.
    const expected = [...eligible, eligible[0] ?? null]
    expect(expected.map(() => pick(service))).to.deep.equal(expected)
  })
}

function using(policy: Policy, size: number, use: (service: Service) => void): Promise<void> {
  return withService({ instances: placed(new Array(size).fill({})), policy }, use, { compat: 'ribbon' })
}

export const cases = replayedRibbon<PredicateVector>(file, (vector) =>
  vector.lists === undefined ? composite(vector) : rotation(vector),
)
