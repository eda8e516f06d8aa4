/** @module What the machine charges for one look at the clock, and for an object like a lease that does nothing. */

import type { Contestant } from '../harness/rounds.js'

const OPS = 5_000

export const oneClockRead: Contestant = {
  name: 'one clock read',
  ops: OPS,
  run() {
    let sum = 0
    for (let op = 0; op < OPS; op++) sum += performance.now()
    return sum
  },
}

const owner = {}

/** A pick that chooses nothing, with the fields that a lease can't do without. */
function take(row: number) {
  return { owner, instance: owner, request: owner, row, attempt: 1, startedAt: undefined, isDone: false }
}

let last = take(0)

export const emptyLease: Contestant = {
  name: 'empty lease',
  ops: OPS,
  run() {
    let sum = 0
    for (let op = 0; op < OPS; op++) {
      const next = take(op)
      last.isDone = true
      sum += last.row
      last = next
    }
    return sum
  },
}
