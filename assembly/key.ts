import { nextU32 } from './prng'
import { xxh64 } from './xxh64'

/** The bytes of the request's key, where the caller puts them before a pick. Made when first asked for, never shrunk. */
let buffer: usize = 0
let room = 0
const LEAST_ROOM: i32 = 256

/** Where a key of up to `bytes` bytes may be put; what was there is lost when it has to grow. */
export function keyBuffer(bytes: i32): usize {
  if (bytes > room) {
    const grown = max(bytes, LEAST_ROOM)
    // If there is no memory for it, this traps: what there is stays as it is.
    const made = heap.alloc(usize(grown))
    if (buffer) heap.free(buffer)
    buffer = made
    room = grown
  }
  return buffer
}

/** XXH64 of the key, whose length in bytes is `length`; below 0: there is none, and a random hash (gRPC A76). */
export function hashOfKey(block: usize, length: i32): u64 {
  if (length < 0) {
    const high = u64(nextU32(block))
    return (high << 32) | u64(nextU32(block))
  }
  assert(length <= room)
  return xxh64(buffer, length, 0)
}
