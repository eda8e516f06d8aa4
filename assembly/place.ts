import { addTo } from './atomic'
import { BLOCK_CURSOR, BLOCK_POSITION, LIST_CURSOR, LIST_POSITION } from './layout'

/**
 * Where the rotation over a list stands. Each list goes on by itself, or lists that are picked from by turns (the one
 * of a retry, those of several request keys) would pass over each other's candidates in lockstep. It begins where the
 * service's last pick was, of whichever list, so that a refreshed list goes on and never restarts.
 */

/** The service's places hold for the list again: its next pick follows the last one of the service. */
export function forgetPlace(list: usize): void {
  store<i32>(list, -1, LIST_CURSOR)
  store<u64>(list, u64.MAX_VALUE, LIST_POSITION)
}

/** The number of the list's next turn, of 31 bits as SCLB's; moves on. */
export function nextTurn(block: usize, list: usize): i32 {
  const next = load<i32>(list, LIST_CURSOR)
  if (next < 0) begin(block, list, next)
  const turn = addTo(list + LIST_CURSOR, 1) & 0x7fffffff
  store<i32>(block, turn, BLOCK_CURSOR)
  return turn
}

function begin(block: usize, list: usize, forgotten: i32): void {
  const first = (load<i32>(block, BLOCK_CURSOR) + 1) & 0x7fffffff
  if (ASC_FEATURE_THREADS) atomic.cmpxchg<i32>(list + LIST_CURSOR, forgotten, first)
  else store<i32>(list, first, LIST_CURSOR)
}

/** The 64-bit position of a weighted list's next pick. */
export function positionOf(block: usize, list: usize): u64 {
  const position = load<u64>(list, LIST_POSITION)
  return position === u64.MAX_VALUE ? load<u64>(block, BLOCK_POSITION) : position
}

export function putPosition(block: usize, list: usize, position: u64): void {
  store<u64>(list, position, LIST_POSITION)
  store<u64>(block, position, BLOCK_POSITION)
}
