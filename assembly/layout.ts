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
 *    40           44        48          52      56       60        64             72         80
 *    ┌────────────┬─────────┬───────────┬───────┬────────┬─────────┬──────────────┬──────────┬──────────┐
 *    │ histograms │ windows │ server    │ turns │ zone   │ shares  │ placed       │ filtered │ breaker  │
 *    │ ptr        │ ptr     │ stats ptr │ ptr   │ turns  │ ptr     │ i32: 0/1     │ cursor   │ settings │
 *    │            │         │           │       │ ptr    │         │              │ i32      │ …        │
 *    └────────────┴─────────┴───────────┴───────┴────────┴─────────┴──────────────┴──────────┴──────────┘
 *    120             128             136      140            144      148
 *    ┌───────────────┬───────────────┬────────┬──────────────┬────────┬────────────┐
 *    │ shares worked │ how often     │ paces  │ window       │ recent │ candidates │
 *    │ out at, ms    │ so far        │ ptr    │ sampling i32 │ ptr    │ of shares  │
 *    └───────────────┴───────────────┴────────┴──────────────┴────────┴────────────┘
 *
 * Row: what a policy samples, 32 bytes, so that a pick touches one cache line for each candidate it looks at.
 *
 *    0          4          8             16            24            32
 *    ┌──────────┬──────────┬─────────────┬─────────────┬─────────────┐
 *    │ inFlight │ down     │ ewma (ms)   │ stamp (ms)  │ weight      │
 *    │ i32      │ i32: 0/1 │ f64, < 0: ? │ f64         │ f64         │
 *    └──────────┴──────────┴─────────────┴─────────────┴─────────────┘
 *
 * Side columns: what only some policies keep of each row, at a pointer that is 0 until one asks (block.ts opens them).
 * Meters (always there): what only `done` and `stats` touch: successes, failures, cancelled; three f64 a row.
 * Histogram: one u16 a latency bucket, see histogram.ts. Windows: traffic by the second, window.ts. Server stats:
 * Ribbon's, server-stats-layout.ts. Paces: how fast and how surely a row answers of late, pace.ts. Recent: response times of a
 * window, recent.ts. Turns: where a rotation stands, turns.ts. Shares: weights that a policy has worked out, f64.
 *
 * List: candidates in order, as row numbers. A list made by a filter also knows each candidate's position in the
 * list it was first cut from (positions = 0: the list is that first one, position = index).
 *
 *    0        4         8           12      16           24         28          32       36          40           48
 *    ┌────────┬─────────┬───────────┬───────┬────────────┬──────────┬───────────┬────────┬───────────┬────────────┬──────────┐
 *    │ length │ order   │ positions │ table │ meanWeight │ straight │ plan      │ cursor │ plan's    │ position   │ rows …   │
 *    │ i32    │ i32     │ ptr       │ ptr   │ f64        │ i32      │ ptr       │ i32    │ bytes i32 │ u64        │ i32 each │
 *    └────────┴─────────┴───────────┴───────┴────────────┴──────────┴───────────┴────────┴───────────┴────────────┴──────────┘
 *
 * `straight` is 1 if every candidate's row is its index, which spares random draws a cache miss each.
 *
 * `order` says what `table` holds: ORDER_EQUAL none, ORDER_INTERLEAVED a rotation (rotation.ts),
 * ORDER_BLOCK and ORDER_DRAW cumulative weights (cumulative.ts). ORDER_WEIGHTED: weights are attached, and the policy
 * lays them out in a plan of its own.
 *
 * `meanWeight` is 1 where no weights are attached; where these are all equal, `order` is ORDER_EQUAL and it is theirs.
 *
 * `plan` is what a policy has prepared for picks from this list (a ring, a heap, …), see plan.ts; 0: nothing yet.
 *
 * `cursor` and `position` are those of its next pick in turn; below 0 and all ones: the block's hold (place.ts).
 *
 * Column: one interned i32 for each position of a first list; scanned by filters, 16-byte aligned.
 */

/** Bumped whenever anything drawn above moves. */
export const ABI_VERSION = 3

export const BLOCK_BYTES = 152
export const BLOCK_CURSOR = 16
export const BLOCK_ROWS = 20
export const BLOCK_METERS = 24
export const BLOCK_CAPACITY = 28
export const BLOCK_POSITION = 32
export const BLOCK_HISTOGRAMS = 40
export const BLOCK_WINDOWS = 44
export const BLOCK_SERVER_STATS = 48
export const BLOCK_TURNS = 52
export const BLOCK_ZONE_TURNS = 56
export const BLOCK_SHARES = 60
/** 1: the position is where somebody put it, or has moved; 0: it may be anywhere. */
export const BLOCK_PLACED = 64
export const BLOCK_FILTERED_CURSOR = 72
/** Server statistics' settings, server-stats.ts. */
export const BLOCK_BREAKER_THRESHOLD = 76
export const BLOCK_BREAKER_FACTOR_MS = 80
export const BLOCK_BREAKER_MOST_MS = 88
export const BLOCK_ACTIVE_EXPIRY_MS = 96
export const BLOCK_FAILURE_WINDOW_MS = 104
export const BLOCK_REQUEST_WINDOW_MS = 112
/** When `shares` were last worked out, ms; and how often so far. */
export const BLOCK_SHARED_AT = 120
export const BLOCK_SHARE_VERSION = 128
export const BLOCK_PACES = 136
/** Of each row's outcomes every so-manyth is recorded in its window. */
export const BLOCK_WINDOW_SAMPLING = 140
export const BLOCK_RECENT = 144
/** Of how many candidates the shares are. */
export const BLOCK_SHARED_COUNT = 148

export const ROW_SHIFT = 5
export const ROW_IN_FLIGHT = 0
export const ROW_DOWN = 4
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
export const LIST_PLAN = 28
export const LIST_CURSOR = 32
/** How much memory the plan takes. */
export const LIST_PLAN_BYTES = 36
export const LIST_POSITION = 40
export const LIST_ROWS = 48

export const ORDER_EQUAL = 0
export const ORDER_INTERLEAVED = 1
export const ORDER_BLOCK = 2
export const ORDER_DRAW = 3
export const ORDER_WEIGHTED = 4

/** Traffic window, window.ts: 40 bytes, and 16 for each of sixty seconds. */
export const WINDOW_BYTES = 40 + 60 * 16
export const PACE_BYTES = 56
export const SERVER_STATS_BYTES = 152
export const RECENT_BYTES = 40
export const TURN_BYTES = 16

/** Where a plan of weights (weight-plan.ts) has its sums. */
export const WEIGHT_PLAN_SUMS = 24

/** How a lease ended, as `complete` takes it: the offset of the meter that counts it. */
export const ENDED_SUCCESS = METER_SUCCESSES
export const ENDED_FAILURE = METER_FAILURES
export const ENDED_CANCELLED = METER_CANCELLED

/** What a pick gives that needs a plan of its policy's, where the list has none, or another's. */
export const NO_PLAN = -2
