import { nextInBlock } from './cumulative'
import { LIST_ORDER, LIST_TABLE, ORDER_INTERLEAVED } from './layout'
import { lengthOf } from './list'
import { nextTurn } from './place'
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
 * SCLB's round robin (RoundRobinLoadBalancer) with a cursor for each list: 31 bits, moved by each pick among two or
 * more, modulo the length. A single candidate leaves the cursor alone (spring-cloud-commons 1144).
 */
export function nextInTurn(block: usize, list: usize): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  return i32(u32(nextTurn(block, list)) % u32(length))
}
