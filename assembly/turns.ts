import { openColumn } from './block'
import { BLOCK_TURNS, TURN_BYTES } from './layout'

/**
 * What a rotation keeps of its rows when its list goes, so that the next list goes on from there, whatever its
 * weights are; and which rotation it was, since each counts in its own way. Where a user's policy goes from one to the
 * other on one list, the last one's turns are there, and mean nothing to the other.
 *
 *    0         8       12  16
 *    ┌─────────┬───────┬───┐
 *    │ turn    │ whose │   │
 *    │ f64     │ i32   │   │
 *    └─────────┴───────┴───┘
 */
const TURN: usize = 0
const WHOSE: usize = 8

/** Turns that the row is owed, in parts of a turn: below 0 it has had more than its share. */
export const TURN_SMOOTH = 1
/** The part of its period that the row has waited: 1 and it is due; below 0 it is given more than one period. */
export const TURN_EDF = 2

export function openTurns(block: usize): void {
  openColumn(block, BLOCK_TURNS, TURN_BYTES)
}

function entryOf(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_TURNS) + usize(row) * TURN_BYTES
}

/** Whether the row's last rotation was of this kind. */
export function hasTurn(block: usize, row: i32, whose: i32): bool {
  return load<i32>(entryOf(block, row), WHOSE) === whose
}

export function turnOf(block: usize, row: i32): f64 {
  return load<f64>(entryOf(block, row), TURN)
}

export function keepTurn(block: usize, row: i32, turn: f64, whose: i32): void {
  const entry = entryOf(block, row)
  store<f64>(entry, turn, TURN)
  store<i32>(entry, whose, WHOSE)
}
