import { BLOCK_CURSOR, BLOCK_FILTERED_CURSOR, BLOCK_POSITION, BLOCK_ZONE_TURNS } from './layout'
import { startAt } from './prng'

/**
 * Where the rotations of each zone stand, in slots that the caller gives to zones.
 *
 *    0        8          12         16
 *    ┌────────┬──────────┬──────────┬─────────────┬───┐
 *    │ slots  │ cursor   │ filtered │ position    │ … │
 *    │ i32    │ i32      │ i32      │ u64         │   │
 *    └────────┴──────────┴──────────┴─────────────┴───┘
 */
const SLOTS: usize = 8
const SLOT_BYTES: usize = 16
const SLOT_CURSOR: usize = 0
const SLOT_FILTERED: usize = 4
const SLOT_POSITION: usize = 8

function slotAt(block: usize, slot: i32): usize {
  const turns = load<usize>(block, BLOCK_ZONE_TURNS)
  assert(turns && u32(slot) < u32(load<i32>(turns)))
  return turns + SLOTS + usize(slot) * SLOT_BYTES
}

/** Makes room for as many zones; those there are keep their turns. */
export function reserveZoneTurns(block: usize, slots: i32): void {
  const old = load<usize>(block, BLOCK_ZONE_TURNS)
  if (old && load<i32>(old) >= slots) return
  const bytes = SLOTS + usize(slots) * SLOT_BYTES
  const turns = old ? heap.realloc(old, bytes) : heap.alloc(bytes)
  store<i32>(turns, slots)
  store<usize>(block, turns, BLOCK_ZONE_TURNS)
}

/** A zone's turns begin where the service's are; with `start` of 0 or more as `startAt` has them. */
export function beginZoneTurns(block: usize, slot: i32, start: i32): void {
  const turns = slotAt(block, slot)
  store<i32>(turns, load<i32>(block, BLOCK_CURSOR), SLOT_CURSOR)
  store<i32>(turns, load<i32>(block, BLOCK_FILTERED_CURSOR), SLOT_FILTERED)
  store<u64>(turns, load<u64>(block, BLOCK_POSITION), SLOT_POSITION)
  if (start < 0) return
  exchangeTurns(block, slot)
  startAt(block, start)
  exchangeTurns(block, slot)
}

/** The service's turns become the zone's, and the other way round: before a pick within the zone, and after it. */
export function exchangeTurns(block: usize, slot: i32): void {
  const turns = slotAt(block, slot)
  const cursor = load<i32>(block, BLOCK_CURSOR)
  const filtered = load<i32>(block, BLOCK_FILTERED_CURSOR)
  const position = load<u64>(block, BLOCK_POSITION)
  store<i32>(block, load<i32>(turns, SLOT_CURSOR), BLOCK_CURSOR)
  store<i32>(block, load<i32>(turns, SLOT_FILTERED), BLOCK_FILTERED_CURSOR)
  store<u64>(block, load<u64>(turns, SLOT_POSITION), BLOCK_POSITION)
  store<i32>(turns, cursor, SLOT_CURSOR)
  store<i32>(turns, filtered, SLOT_FILTERED)
  store<u64>(turns, position, SLOT_POSITION)
}
