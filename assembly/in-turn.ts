import { rowOf } from './block'
import { BLOCK_CURSOR, BLOCK_FILTERED_CURSOR, LIST_TABLE, ROW_DOWN } from './layout'
import { lengthOf, rowAt } from './list'
import { nextTurn } from './place'
import { below } from './prng'
import { RIBBON_COUNTER, RIBBON_TEN_PROBES } from './ribbon-flags'
import { pickRoundRobin } from './round-robin'

/** Ribbon's rules go in turn by two counters of the service: one over all servers, one over those that passed a filter. */

/** Whether the instance is in the list although its check failed: only rules that ask for the dead get them. */
export function isDown(block: usize, list: usize, index: i32): bool {
  return load<i32>(rowOf(block, rowAt(list, index)), ROW_DOWN) !== 0
}

/**
 * RoundRobinRule: the next in turn that is not down, −1 if nobody is. Each probe moves the counter, so that the
 * successor of one that is down gets no double share (ribbon 466).
 */
export function pickInTurn(block: usize, list: usize, flags: i32): i32 {
  const length = lengthOf(list)
  if (length === 0) return -1
  for (let probes = flags & RIBBON_TEN_PROBES ? 10 : length; probes > 0; probes--) {
    const index = load<usize>(list, LIST_TABLE) ? pickRoundRobin(block, list) : nextOf(block, list, length, flags)
    if (!isDown(block, list, index)) return index
  }
  return -1
}

function nextOf(block: usize, list: usize, length: i32, flags: i32): i32 {
  if ((flags & RIBBON_COUNTER) === 0) return i32(u32(nextTurn(block, list)) % u32(length))
  const next = i32(u32((load<i32>(block, BLOCK_CURSOR) + 1) & 0x7fffffff) % u32(length))
  store<i32>(block, next, BLOCK_CURSOR)
  return next
}

/** Whose turn it is among `count` that passed a filter (AbstractServerPredicate): its place among them; −1 of none. */
export function turnAmong(block: usize, count: i32, flags: i32): i32 {
  if (count === 0) return -1
  const turn = load<i32>(block, BLOCK_FILTERED_CURSOR)
  if ((flags & RIBBON_COUNTER) === 0) {
    store<i32>(block, (turn + 1) & 0x7fffffff, BLOCK_FILTERED_CURSOR)
    return turn % count
  }
  // What was stored for a longer list is passed over: it was reduced by a length that no longer holds (ribbon PR 357).
  const current = turn < count ? turn : (turn + 1) % count
  store<i32>(block, (current + 1) % count, BLOCK_FILTERED_CURSOR)
  return current
}

/** RandomRule as it is: an index drawn over all servers, looked up among those that are up; −1 beyond them. */
export function pickRandomUp(block: usize, list: usize): i32 {
  const length = lengthOf(list)
  if (length === 0) return -1
  let place = i32(below(block, u32(length)))
  for (let index = 0; index < length; index++) {
    if (isDown(block, list, index)) continue
    if (place === 0) return index
    place--
  }
  return -1
}
