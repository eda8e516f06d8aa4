import { BLOCK_CAPACITY, BLOCK_HISTOGRAMS } from './layout'

/**
 * A log-linear histogram of latencies: eight buckets an octave, from 1/16 ms to 65 s, so a reported percentile is
 * within 1/16 of the true one (HdrHistogram's idea with three bits). A bucket that fills up halves them all: old
 * samples fade as new ones come.
 */
const SUB_BITS: u32 = 3
const FIRST_EXPONENT: u32 = 1023 - 4
const OCTAVES: u32 = 20
const BUCKETS: u32 = OCTAVES << SUB_BITS
export const HISTOGRAM_BYTES: u32 = BUCKETS * 2

/** The exponent and the first three bits of the mantissa are, side by side, the bucket's number. */
function bucketOf(ms: f64): u32 {
  if (ms < 0.0625) return 0
  const bits = u32(reinterpret<u64>(ms) >> (52 - SUB_BITS))
  return min<u32>(bits - (FIRST_EXPONENT << SUB_BITS), BUCKETS - 1)
}

function middleOf(bucket: u32): f64 {
  const low = reinterpret<f64>(u64((FIRST_EXPONENT << SUB_BITS) + bucket) << (52 - SUB_BITS))
  const high = reinterpret<f64>(u64((FIRST_EXPONENT << SUB_BITS) + bucket + 1) << (52 - SUB_BITS))
  return (low + high) * 0.5
}

/** Counts one latency of `ms` ≥ 0. The first of a service makes room for all its rows. */
export function record(block: usize, row: i32, ms: f64): void {
  let histograms = load<usize>(block, BLOCK_HISTOGRAMS)
  if (!histograms) {
    const bytes = usize(load<i32>(block, BLOCK_CAPACITY)) * HISTOGRAM_BYTES
    histograms = heap.alloc(bytes)
    memory.fill(histograms, 0, bytes)
    store<usize>(block, histograms, BLOCK_HISTOGRAMS)
  }
  const own = histograms + usize(row) * HISTOGRAM_BYTES
  const at = own + (usize(bucketOf(ms)) << 1)
  const count = load<u16>(at) + 1
  store<u16>(at, count)
  if (count === u16.MAX_VALUE) {
    for (let end = own + HISTOGRAM_BYTES, p = own; p < end; p += 2) store<u16>(p, load<u16>(p) >> 1)
  }
}

/** The q-quantile (0 < q ≤ 1) of the row's latencies in ms: the middle of the bucket that holds it; NaN: none yet. */
export function quantile(block: usize, row: i32, q: f64): f64 {
  const histograms = load<usize>(block, BLOCK_HISTOGRAMS)
  if (!histograms) return NaN
  const own = histograms + usize(row) * HISTOGRAM_BYTES
  let total: u32 = 0
  for (let bucket: u32 = 0; bucket < BUCKETS; bucket++) total += load<u16>(own + (bucket << 1))
  if (total === 0) return NaN
  const wanted = max<u32>(u32(ceil(q * f64(total))), 1)
  let seen: u32 = 0
  for (let bucket: u32 = 0; bucket < BUCKETS; bucket++) {
    seen += load<u16>(own + (bucket << 1))
    if (seen >= wanted) return middleOf(bucket)
  }
  return NaN
}
