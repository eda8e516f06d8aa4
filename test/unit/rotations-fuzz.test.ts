import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ENDED_SUCCESS, ORDER_WEIGHTED } from '../../assembly/layout.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { edf, type ModelRotation, ModelTurns, smooth, stride, type Weighted } from '../model/rotations.js'
import { listOf, membersOf } from './core-lists.js'
import { CORES } from './cores.js'

const KINDS = ['smooth', 'edf', 'least-request', 'stride'] as const
type Kind = (typeof KINDS)[number]

/** Weights whose cycles are short enough to be gone through pick by pick. */
const weight = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 9 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 60 }).map((quarters) => quarters / 4) },
)
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('pick' as const),
      list: fc.nat(),
      hold: fc.boolean(),
      /** Now and then another policy takes a turn on the same list. */
      other: fc.option(fc.constantFrom<Kind[]>('smooth', 'edf', 'stride'), { freq: 1, nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('done' as const), lease: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('refresh' as const), list: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('weigh' as const), row: fc.nat(), weight }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), row: fc.nat() }) },
)
const trace = fc.record({
  policy: fc.constantFrom<Kind[]>(...KINDS),
  nameHash: fc.integer(),
  seed: fc.double({ noNaN: true, noDefaultInfinity: true }),
  start: fc.option(fc.integer(), { nil: undefined }),
  weights: fc.array(weight, { minLength: 2, maxLength: 9 }),
  lists: fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 3 }),
  steps: fc.array(step, { maxLength: 150 }),
})

interface Model {
  readonly weighted: boolean
  kind: Kind | undefined
  rotation: ModelRotation | undefined
}

const unknownWeight = fc.oneof({ weight: 4, arbitrary: weight }, { weight: 1, arbitrary: fc.constant(Number.NaN) })

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()
  const { exports } = core

  const pickFrom: Record<Kind, (block: Pointer, list: Pointer) => number> = {
    smooth: (block, list) => exports.pickSmooth(block, list),
    edf: (block, list) => exports.pickEdf(block, list, 0),
    'least-request': (block, list) => exports.pickLeastRequestEnvoy(block, list, 2, 1),
    stride: (block, list) => exports.pickStride(block, list),
  }

  it('rotates as the models do: several lists over the same rows, refreshed, reweighed, forgotten', () => {
    fc.assert(
      fc.property(trace, (given) => {
        const count = given.weights.length
        const members = membersOf(core, given.weights)
        const { block } = members
        const weights = [...given.weights]
        const requests = new Array<number>(count).fill(0)
        const state = new ModelTurns(given.nameHash, given.seed)
        exports.seedBlock(block, given.nameHash, given.seed)
        if (given.start !== undefined) {
          state.startAt(given.start)
          exports.startAt(block, given.start)
        }
        const inFlight = (row: number) => requests[row] as number
        const modelOf = (rows: readonly number[]): Model => {
          const own = rows.map((row) => weights[row] as number)
          return { weighted: new Set(own).size > 1, kind: undefined, rotation: undefined }
        }
        const open = (rows: readonly number[]) => ({
          rows,
          model: modelOf(rows),
          place: {},
          handle: listOf(core, block, rows, ORDER_WEIGHTED),
        })
        const lists = given.lists.map((picked) => open([...new Set(picked.map((n) => n % count))]))
        const rotationOf = (list: (typeof lists)[number], kind: Kind): ModelRotation => {
          const { model } = list
          if (model.rotation !== undefined && model.kind === kind) return model.rotation
          const rows: Weighted = list.rows.map((row) => ({ row, weight: weights[row] as number }))
          model.rotation?.end()
          model.kind = kind
          if (kind === 'smooth') model.rotation = smooth(state, rows)
          else if (kind === 'stride') model.rotation = stride(state, rows, list.place)
          else model.rotation = edf(state, rows, kind === 'edf' ? 0 : 1, inFlight)
          return model.rotation
        }
        const replace = (at: number) => {
          const list = lists[at] as (typeof lists)[number]
          list.model.rotation?.end()
          exports.freeList(list.handle)
          lists[at] = open(list.rows)
        }
        const leases: number[] = []
        for (const each of given.steps) {
          if (each.kind === 'refresh') {
            replace(each.list % lists.length)
          } else if (each.kind === 'weigh') {
            const row = each.row % count
            // The order of a refresh: the new weights first, then the old lists go.
            weights[row] = each.weight
            members.setWeight(row, each.weight)
            for (const at of lists.keys()) replace(at)
          } else if (each.kind === 'forget') {
            const row = each.row % count
            if (leases.includes(row)) continue
            for (const at of lists.keys()) replace(at)
            state.turns.delete(row)
            exports.resetRow(block, row)
            members.setWeight(row, weights[row] as number)
          } else if (each.kind === 'done') {
            const [row] = leases.splice(each.lease % Math.max(leases.length, 1), 1)
            if (row === undefined) continue
            exports.complete(block, row, ENDED_SUCCESS)
            requests[row] = inFlight(row) - 1
          } else {
            const list = lists[each.list % lists.length] as (typeof lists)[number]
            // Least request and edf share a heap; among equals least request draws, which has a test of its own.
            const kind = given.policy === 'least-request' ? given.policy : (each.other ?? given.policy)
            if (!list.model.weighted && kind === 'least-request') continue
            const expected = list.model.weighted
              ? rotationOf(list, kind).pick()
              : state.inTurn(list.rows.length, list.place)
            expect(pickFrom[kind](block, list.handle)).toBe(expected)
            if (!each.hold) continue
            const row = list.rows[expected] as number
            exports.acquireRow(block, row)
            requests[row] = inFlight(row) + 1
            leases.push(row)
          }
        }
        for (const { handle } of lists) exports.freeList(handle)
        members.free()
      }),
      { seed: 20260201, numRuns: 2000 },
    )
  })

  it('strides over unknown weights as the model does', () => {
    fc.assert(
      fc.property(fc.array(unknownWeight, { minLength: 2, maxLength: 9 }), fc.integer(), (weights, seed) => {
        fc.pre(weights.some((weight) => weight > 0) && new Set(weights).size > 1)
        const members = membersOf(core, weights)
        const rows = [...weights.keys()]
        const state = new ModelTurns(1, seed)
        exports.seedBlock(members.block, 1, seed)
        const list = listOf(core, members.block, rows, ORDER_WEIGHTED)
        const model = stride(
          state,
          rows.map((row) => ({ row, weight: weights[row] as number })),
        )
        for (let i = 0; i < 100; i++) expect(exports.pickStride(members.block, list)).toBe(model.pick())
        exports.freeList(list)
        members.free()
      }),
      { seed: 20260202, numRuns: 300 },
    )
  })
})
