import { openColumn } from './block'
import { BLOCK_TURNS } from './layout'

/**
 * How far each row has come on its way to its next turn, in turns: what a rotation keeps of its rows when its list
 * goes, so that the next list goes on from there, whatever its weights are. 0: the row has never been in a rotation.
 */
export function openTurns(block: usize): void {
  openColumn(block, BLOCK_TURNS, 8)
}

export function hasTurn(block: usize, row: i32): bool {
  return turnOf(block, row) !== 0
}

export function turnOf(block: usize, row: i32): f64 {
  return load<f64>(load<usize>(block, BLOCK_TURNS) + (usize(row) << 3))
}

/** A turn that has just begun is kept as the least number above 0. */
export function keepTurn(block: usize, row: i32, turn: f64): void {
  store<f64>(load<usize>(block, BLOCK_TURNS) + (usize(row) << 3), turn === 0 ? f64.MIN_VALUE : turn)
}
