/**
 * The memory of the core, drawn once. Both sides read their offsets here: AssemblyScript compiles this file,
 * the TypeScript bindings inline its numbers.
 *
 * Service block: one per service. It owns the rows.
 *
 *    0        16       20       24       28       32            40
 *    ┌────────┬────────┬────────┬────────┬────────┬─────────────┐
 *    │ PRNG   │ cursor │ rows   │ meters │ capac. │ position    │
 *    │ 4×u32  │ i32    │ ptr    │ ptr    │ i32    │ u64         │
 *    └────────┴────────┴────────┴────────┴────────┴─────────────┘
 *    40           44
 *    ┌────────────┐
 *    │ histograms │   ptr, 0 until the first latency is observed
 *    └────────────┘
 *
 * Row: what a policy samples, 32 bytes, so that a pick touches one cache line for each candidate it looks at.
 *
 *    0          4          8             16            24            32
 *    ┌──────────┬──────────┬─────────────┬─────────────┬─────────────┐
 *    │ inFlight │ unused   │ ewma (ms)   │ stamp (ms)  │ weight      │
 *    │ i32      │          │ f64, < 0: ? │ f64         │ f64         │
 *    └──────────┴──────────┴─────────────┴─────────────┴─────────────┘
 *
 * Meters: what only `done` and `stats` touch: successes, failures, cancelled; three f64 a row.
 * Histogram: one u16 a latency bucket, see histogram.ts.
 *
 * List: candidates in order, as row numbers. A list made by a filter also knows each candidate's position in the
 * list it was first cut from (positions = 0: the list is that first one, position = index).
 *
 *    0        4         8           12      16           24         28          32
 *    ┌────────┬─────────┬───────────┬───────┬────────────┬──────────┬───────────┬──────────┐
 *    │ length │ order   │ positions │ table │ meanWeight │ straight │ unused    │ rows …   │
 *    │ i32    │ i32     │ ptr       │ ptr   │ f64        │ i32      │           │ i32 each │
 *    └────────┴─────────┴───────────┴───────┴────────────┴──────────┴───────────┴──────────┘
 *
 * `straight` is 1 if every candidate's row is its index, which spares random draws a cache miss each.
 *
 * `order` says what `table` holds: ORDER_EQUAL none, ORDER_INTERLEAVED a rotation (rotation.ts),
 * ORDER_BLOCK and ORDER_DRAW cumulative weights (cumulative.ts).
 *
 * Column: one interned i32 for each position of a first list; scanned by filters, 16-byte aligned.
 */

/** Bumped whenever anything drawn above moves. */
export const ABI_VERSION = 1

export const BLOCK_BYTES = 48
export const BLOCK_CURSOR = 16
export const BLOCK_ROWS = 20
export const BLOCK_METERS = 24
export const BLOCK_CAPACITY = 28
export const BLOCK_POSITION = 32
export const BLOCK_HISTOGRAMS = 40

export const ROW_SHIFT = 5
export const ROW_IN_FLIGHT = 0
export const ROW_EWMA = 8
export const ROW_STAMP = 16
export const ROW_WEIGHT = 24

export const METER_BYTES = 24
export const METER_SUCCESSES = 0
export const METER_FAILURES = 8
export const METER_CANCELLED = 16

export const LIST_LENGTH = 0
export const LIST_ORDER = 4
export const LIST_POSITIONS = 8
export const LIST_TABLE = 12
export const LIST_MEAN_WEIGHT = 16
export const LIST_STRAIGHT = 24
export const LIST_ROWS = 32

export const ORDER_EQUAL = 0
export const ORDER_INTERLEAVED = 1
export const ORDER_BLOCK = 2
export const ORDER_DRAW = 3

/** How a lease ended, as `complete` takes it: the offset of the meter that counts it. */
export const ENDED_SUCCESS = METER_SUCCESSES
export const ENDED_FAILURE = METER_FAILURES
export const ENDED_CANCELLED = METER_CANCELLED
