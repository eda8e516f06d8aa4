/**
 * Ribbon's statistics of a server (ServerStats), one entry a row: a side column of layout.ts, drawn here because only
 * server-stats.ts writes it. Times are ms of the caller's clock.
 *
 *    0           8             16            24          32      40    48      56    64
 *    ┌───────────┬─────────────┬─────────────┬───────────┬───────┬─────┬───────┬─────┬─────┐
 *    │ requests  │ active      │ last        │ blackout  │ times │ Σ   │ Σ²    │ min │ max │
 *    │ completed │ changed at  │ failure at  │ total ms  │ n     │ ms  │ ms²   │ ms  │ ms  │
 *    └───────────┴─────────────┴─────────────┴───────────┴───────┴─────┴───────┴─────┴─────┘
 *    72           76       80           88        96         104       112       120        128       136        144       152
 *    ┌────────────┬────────┬────────────┬─────────┬──────────┬─────────┬─────────┬──────────┬─────────┬──────────┬──────────┐
 *    │ successive │ active │ failures   │ which   │ requests │ in the  │ which   │ last     │ first   │ requests │ failures │
 *    │ failures   │        │ in bucket  │ ends    │ in bucket│ bucket  │ ends    │ accessed │ accessed│ begun    │ ever     │
 *    │ i32        │ i32    │            │ after   │          │ before  │ after   │ at       │ at      │          │          │
 *    └────────────┴────────┴────────────┴─────────┴──────────┴─────────┴─────────┴──────────┴─────────┴──────────┴──────────┘
 *
 * f64 but for the two i32. `first` and `last accessed` mean something once `requests begun` is above 0, `last failure`
 * once there are `failures ever`. A bucket that ends at 0 has not begun.
 */
export const STATS_REQUESTS = 0
export const STATS_ACTIVE_AT = 8
export const STATS_FAILED_AT = 16
export const STATS_BLACKOUT_TOTAL = 24
export const STATS_TIMES = 32
export const STATS_TIME_SUM = 40
export const STATS_TIME_SQUARES = 48
export const STATS_TIME_MIN = 56
export const STATS_TIME_MAX = 64
export const STATS_SUCCESSIVE = 72
export const STATS_ACTIVE = 76
export const STATS_FAILURES = 80
export const STATS_FAILURES_UNTIL = 88
export const STATS_BUCKET = 96
export const STATS_BUCKET_BEFORE = 104
export const STATS_BUCKET_UNTIL = 112
export const STATS_LAST_ACCESS = 120
export const STATS_FIRST_ACCESS = 128
export const STATS_BEGUN = 136
export const STATS_FAILED = 144

/** How a request ended, as the breaker sees it. */
export const VERDICT_HEALS = 0
export const VERDICT_TRIPS = 1
/** Nobody knows: it was cancelled. */
export const VERDICT_NONE = 2

/** What `endRequest` answers where the breaker's blackouts have come to an end. */
export const BREAKER_CLOSED = -1
