/**
 * @module Contestants measured in rounds. Machines are shared and noisy: each round runs every contestant for a moment,
 * so that what slows one round down slows all of them; only ratios and differences within a round are then compared,
 * and the median round counts. Each round has an order of its own, or what happens now and then, as collecting garbage,
 * would fall into step with the rounds and always hit the same one.
 */

import { Bench, type Task } from 'tinybench'
import { scattered } from '../peers/scattered.js'

export interface Contestant {
  readonly name: string
  /** How many operations one call of `run` makes. */
  readonly ops: number
  /** Not timed, before each call of `run`. */
  before?(): void
  /**
   * Answers something made from every operation's result, so that no compiler can leave the work out. Each contestant
   * has a loop of its own: a shared one would see all of them, and inline none.
   */
  run(): number | Promise<number>
}

export interface Effort {
  readonly rounds: number
  /** Calls of `run` per contestant and round; their median is the round's value. */
  readonly calls: number
  /** Each contestant is warmed up for so long. */
  readonly warmUpMs: number
}

/** Nanoseconds an operation took: a value for each round. */
export type Timings = Record<string, number[]>

/** Takes up what contestants answer. */
let sink = 0

export async function inRounds(contestants: readonly Contestant[], effort: Effort): Promise<Timings> {
  const { rounds, calls, warmUpMs } = effort
  const bench = new Bench({ time: 0, iterations: calls, warmupTime: warmUpMs, warmupIterations: 3, throws: true })
  const entered = contestants.map((contestant) => ({
    contestant,
    task: enter(bench, contestant),
    values: [] as number[],
  }))
  for (const { task } of entered) await task.warmup()
  for (let round = 0; round < rounds; round++) {
    for (const { contestant, task, values } of inOrder(entered, round)) {
      task.reset(false)
      await task.run()
      const { result } = task
      if (result.state !== 'completed') throw new Error(`${contestant.name} did not complete: ${result.state}`)
      values.push((result.latency.p50 * 1e6) / contestant.ops)
    }
  }
  if (Number.isNaN(sink)) throw new Error('a contestant answered no number')
  return Object.fromEntries(entered.map(({ contestant, values }) => [contestant.name, values]))
}

/** Fisher and Yates, with numbers that are the same in every run. */
function inOrder<T>(entered: readonly T[], round: number): readonly T[] {
  const order = [...entered]
  for (let i = order.length - 1; i > 0; i--) {
    const j = scattered(round * order.length + i, i + 1)
    const swap = order[i] as T
    order[i] = order[j] as T
    order[j] = swap
  }
  return order
}

function enter(bench: Bench, contestant: Contestant): Task {
  const { name, before } = contestant
  contestant.before?.()
  const first = contestant.run()
  const run =
    first instanceof Promise
      ? async () => {
          sink += await contestant.run()
        }
      : () => {
          sink += contestant.run() as number
        }
  bench.add(name, run, {
    async: first instanceof Promise,
    ...(before !== undefined && { beforeEach: () => before.call(contestant) }),
  })
  return bench.getTask(name) as Task
}
