import { addTo } from './atomic'
import { nextInBlock } from './cumulative'
import { BLOCK_CURSOR, LIST_ORDER, LIST_TABLE, ORDER_INTERLEAVED } from './layout'
import { lengthOf } from './list'
import { nextInterleaved } from './rotation'

/**
 * The next candidate in turn, by the weights that the list has attached. A list laid out for drawing has no
 * interleaved rotation: a policy that wraps round robin goes over it in blocks.
 */
export function pickRoundRobin(block: usize, list: usize): i32 {
  if (!load<usize>(list, LIST_TABLE)) return nextInTurn(block, list)
  return load<i32>(list, LIST_ORDER) === ORDER_INTERLEAVED ? nextInterleaved(block, list) : nextInBlock(block, list)
}

/**
 * SCLB's round robin (RoundRobinLoadBalancer): one 32-bit cursor a service, moved by each pick among two or more,
 * its sign bit masked, modulo the length. A single candidate leaves the cursor alone (spring-cloud-commons 1144).
 */
export function nextInTurn(block: usize, list: usize): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  return i32(u32((addTo(block + BLOCK_CURSOR, 1) + 1) & 0x7fffffff) % u32(length))
}
