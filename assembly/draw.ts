import { cumulativeAt, ownerOf } from './cumulative'
import { LIST_TABLE } from './layout'
import { lengthOf } from './list'
import { below, below64 } from './prng'

/**
 * How random policies draw candidates: in proportion to the attached weights, or uniformly where there are none.
 * All draws of one pick are distinct (Finagle P2CPick.scala: with replacement, the busier of two still gets 25 %).
 */
export function drawOne(block: usize, list: usize): i32 {
  const table = load<usize>(list, LIST_TABLE)
  const length = lengthOf(list)
  if (!table) return i32(below(block, u32(length)))
  return ownerOf(table, length, below64(block, cumulativeAt(table, length)))
}

/** SCLB's random (RandomLoadBalancer): one draw. */
export function pickRandom(block: usize, list: usize): i32 {
  const length = lengthOf(list)
  return length < 2 ? length - 1 : drawOne(block, list)
}

/** A second candidate, drawn from the others: skips the first one's share instead of drawing again. */
export function drawOther(block: usize, list: usize, first: i32): i32 {
  const table = load<usize>(list, LIST_TABLE)
  const length = lengthOf(list)
  if (!table) {
    const other = i32(below(block, u32(length - 1)))
    return other + i32(other >= first)
  }
  const start = cumulativeAt(table, first)
  const share = cumulativeAt(table, first + 1) - start
  const rest = cumulativeAt(table, length) - share
  if (rest === 0) return first
  const point = below64(block, rest)
  return ownerOf(table, length, point >= start ? point + share : point)
}

/** Room for the draws of one pick of `drawMore`, ascending. */
export const MOST_CHOICES = 32
const drawn = memory.data(MOST_CHOICES * 4, 4)

/** Starts a pick of more than two draws with its first. */
export function drawFirstOfMany(block: usize, list: usize): i32 {
  const first = drawOne(block, list)
  store<i32>(drawn, first)
  return first
}

/** One more candidate, none of the `count` drawn since `drawFirstOfMany`; −1 if all weight is drawn. */
export function drawMore(block: usize, list: usize, count: i32): i32 {
  const table = load<usize>(list, LIST_TABLE)
  const length = lengthOf(list)
  let rest = table ? cumulativeAt(table, length) : u64(length)
  for (let i = 0; i < count; i++) rest -= shareOf(table, load<i32>(drawn + (usize(i) << 2)))
  if (rest === 0) return -1
  let point = below64(block, rest)
  let place = 0
  for (; place < count; place++) {
    const index = load<i32>(drawn + (usize(place) << 2))
    if (startOf(table, index) > point) break
    point += shareOf(table, index)
  }
  const index = table ? ownerOf(table, length, point) : i32(point)
  memory.copy(drawn + (usize(place + 1) << 2), drawn + (usize(place) << 2), usize(count - place) << 2)
  store<i32>(drawn + (usize(place) << 2), index)
  return index
}

function shareOf(table: usize, index: i32): u64 {
  return table ? cumulativeAt(table, index + 1) - cumulativeAt(table, index) : 1
}

function startOf(table: usize, index: i32): u64 {
  return table ? cumulativeAt(table, index) : u64(index)
}
