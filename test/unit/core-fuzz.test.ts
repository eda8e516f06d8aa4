import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ENDED_CANCELLED,
  ENDED_FAILURE,
  ENDED_SUCCESS,
  LIST_ROWS,
  LIST_STRAIGHT,
  ORDER_BLOCK,
  ORDER_DRAW,
  ORDER_INTERLEAVED,
} from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { toInstance } from '../../bindings/instance.js'
import { Members } from '../../bindings/service/members.js'
import { type ModelList, ModelService, type Order } from '../model/service.js'
import { CORES } from './cores.js'

const ORDERS: Record<Order, number> = { interleaved: ORDER_INTERLEAVED, block: ORDER_BLOCK, draw: ORDER_DRAW }
const ENDED = { success: ENDED_SUCCESS, failure: ENDED_FAILURE, cancelled: ENDED_CANCELLED }

/** A service in one core, driven beside the model. */
class Subject {
  readonly members: Members
  readonly #core: Core

  constructor(core: Core, nameHash: number, seed: number, weights: readonly number[]) {
    this.#core = core
    this.members = new Members(core)
    this.members.adopt(weights.map((_, i) => toInstance({ host: 'h', port: i }, 'fuzz', 'fuzz')))
    for (const [row, weight] of weights.entries()) this.members.setWeight(row, weight)
    core.exports.seedBlock(this.members.block, nameHash, seed)
  }

  list(rows: readonly number[], order: Order | undefined): Pointer {
    const list = this.#core.exports.createList(rows.length)
    rows.forEach((row, i) => {
      this.#core.i32[((list + LIST_ROWS) >>> 2) + i] = row
    })
    if (rows.every((row, i) => row === i)) this.#core.i32[(list + LIST_STRAIGHT) >>> 2] = 1
    if (order !== undefined) this.#core.exports.weighList(this.members.block, list, ORDERS[order])
    return list
  }

  free(lists: readonly Pointer[]): void {
    for (const list of lists) this.#core.exports.freeList(list)
    this.members.free()
  }
}

const weight = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  fc.integer({ min: 0, max: 5000 }).map((thousandths) => thousandths / 1000),
)
const order = fc.constantFrom<(Order | undefined)[]>(undefined, 'interleaved', 'block', 'draw')
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('roundRobin', 'random', 'peakEwma'),
      list: fc.nat(),
      elapsed: fc.integer({ min: 0, max: 4000 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('leastRequest' as const),
      list: fc.nat(),
      choices: fc.integer({ min: 2, max: 10 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('done' as const),
      lease: fc.nat(),
      how: fc.constantFrom('success', 'failure', 'cancelled'),
      ms: fc.double({ min: 0, max: 1e5, noNaN: true }),
      peak: fc.boolean(),
    }),
  },
)
const trace = fc.record({
  nameHash: fc.integer(),
  seed: fc.double({ noNaN: true, noDefaultInfinity: true }),
  start: fc.option(fc.integer(), { nil: undefined }),
  weights: fc.array(weight, { minLength: 1, maxLength: 12 }),
  lists: fc.array(fc.record({ order, picked: fc.array(fc.nat(), { minLength: 1, maxLength: 12 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  steps: fc.array(step, { maxLength: 120 }),
})

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it('picks, counts and averages as the model does, over random traces', () => {
    fc.assert(
      fc.property(trace, (given) => {
        const model = new ModelService(given.nameHash, given.seed)
        for (const each of given.weights) model.addRow(Math.round(each * 1000) / 1000)
        const subject = new Subject(
          core,
          given.nameHash,
          given.seed,
          model.rows.map((row) => row.weight),
        )
        if (given.start !== undefined) {
          model.startAt(given.start)
          core.exports.startAt(subject.members.block, given.start)
        }
        const lists = given.lists.map(({ order, picked }) => {
          const rows = [...new Set(picked.map((n) => n % given.weights.length))]
          return { model: model.list(rows, order), core: subject.list(rows, order) }
        })
        run(core, model, subject, lists, given.steps)
        subject.free(lists.map((list) => list.core))
      }),
      { seed: 20260101, numRuns: 1500 },
    )
  })
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function run(
  core: Core,
  model: ModelService,
  subject: Subject,
  lists: readonly { model: ModelList; core: Pointer }[],
  steps: readonly Step[],
): void {
  const { exports } = core
  const { block } = subject.members
  const open: number[] = []
  let nowMs = 0
  for (const each of steps) {
    if (each.kind === 'done') {
      if (open.length === 0) continue
      const [row] = open.splice(each.lease % open.length, 1) as [number]
      model.complete(row, each.how as 'success')
      if (each.how === 'cancelled') {
        exports.complete(block, row, ENDED_CANCELLED)
        continue
      }
      const averaged = each.how === 'failure' ? Math.max(each.ms, 5000) : each.ms
      model.observe(row, each.ms, averaged, nowMs, 10_000, each.peak)
      exports.completeAfter(
        block,
        row,
        ENDED[each.how as 'success'],
        each.ms,
        averaged,
        nowMs,
        10_000,
        each.peak ? 1 : 0,
      )
      continue
    }
    const list = lists[each.list % lists.length] as (typeof lists)[number]
    let expected: number
    let actual: number
    if (each.kind === 'leastRequest') {
      // Least request draws: not from a rotation.
      if (list.model.order === 'interleaved' && list.model.weights !== undefined) continue
      const { choices } = each as { choices: number }
      expected = model.leastRequest(list.model, choices)
      actual = exports.pickLeastRequest(block, list.core, choices)
    } else {
      nowMs += (each as { elapsed: number }).elapsed
      // A list laid out for drawing has no rotation: policies don't mix on one list.
      const kind =
        each.kind === 'roundRobin' && list.model.order === 'draw' && list.model.weights !== undefined
          ? 'random'
          : each.kind
      if (kind === 'roundRobin') {
        expected = model.roundRobin(list.model)
        actual = exports.pickRoundRobin(block, list.core)
      } else if (list.model.order === 'interleaved' && list.model.weights !== undefined) {
        continue
      } else if (kind === 'random') {
        expected = model.random(list.model)
        actual = exports.pickRandom(block, list.core)
      } else {
        expected = model.peakEwma(list.model, nowMs, 10_000, 30)
        actual = exports.pickPeakEwma(block, list.core, nowMs, 10_000, 30)
      }
    }
    expect(actual).toBe(expected)
    const row = exports.acquire(block, list.core, actual)
    expect(row).toBe(list.model.rows[expected])
    model.acquire(row)
    open.push(row)
  }
  model.rows.forEach((row, i) => {
    const meters = subject.members.metersAt(i)
    expect([meters.inFlight, meters.successes, meters.failures, meters.cancelled]).toEqual([
      row.inFlight,
      row.ended.success,
      row.ended.failure,
      row.ended.cancelled,
    ])
    expect(meters.latencyMs).toBe(row.ewma < 0 ? Number.NaN : row.ewma)
    for (const q of [0.5, 0.95, 0.99, 1]) expect(subject.members.quantileAt(i, q)).toBe(row.histogram.quantile(q))
  })
}
