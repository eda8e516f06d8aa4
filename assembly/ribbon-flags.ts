/** Which of Ribbon's behaviours a rule has where they differ from the repaired ones: bits of `flags`. */

/** Counters are stored reduced by the length of the list they were last used on. */
export const RIBBON_COUNTER = 1
/** A rotation gives up after ten servers that are down. */
export const RIBBON_TEN_PROBES = 2
/** Best available and the predicates don't look at who is down. */
export const RIBBON_IGNORES_DOWN = 4
/** Weights by the mean of all response times ever seen; one without any counts as answering in no time. */
export const RIBBON_LIFETIME = 8
/** A draw of exactly 0 chooses the first server, also if it has no weight. */
export const RIBBON_ZERO_FIRST = 16
/** Which of the worst zones is left out is drawn anew for every server. */
export const RIBBON_DRAW_PER_SERVER = 32
/** An idle zone, or the last one left, may be left out too. */
export const RIBBON_DROPS_GOOD = 64

/** Weights by response time: w_i = Σ avg − avg_i, Ribbon's; or max avg − avg_i. */
export const FORMULA_SUM = 0
export const FORMULA_MAX = 1
