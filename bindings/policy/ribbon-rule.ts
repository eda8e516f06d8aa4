/** @module What Ribbon's rules have in common: the quirks that they follow, and how their counters begin. */

import {
  RIBBON_COUNTER,
  RIBBON_DRAW_PER_SERVER,
  RIBBON_DROPS_GOOD,
  RIBBON_IGNORES_DOWN,
  RIBBON_LIFETIME,
  RIBBON_TEN_PROBES,
  RIBBON_ZERO_FIRST,
} from '../../assembly/ribbon-flags.js'
import type { QuirkId, Quirks } from '../compat/quirks.js'
import { DEFAULT_DECAY_MS } from './engine.js'

const FLAGS: readonly (readonly [QuirkId, number])[] = [
  ['ribbon-counter', RIBBON_COUNTER],
  ['ribbon-ten-probes', RIBBON_TEN_PROBES],
  ['ribbon-best-ignores-alive', RIBBON_IGNORES_DOWN],
  ['ribbon-weights-lifetime', RIBBON_LIFETIME],
  ['ribbon-weights-zero-first', RIBBON_ZERO_FIRST],
  ['ribbon-zone-draw-per-server', RIBBON_DRAW_PER_SERVER],
  ['ribbon-zone-drops-good', RIBBON_DROPS_GOOD],
]

/** As the core takes them. */
export function ribbonFlags(quirks: Quirks): number {
  return FLAGS.reduce((flags, [id, flag]) => (quirks.has(id) ? flags | flag : flags), 0)
}

/** Ribbon's counters begin at 0, where all clients begin; ours at a random place. */
export function ribbonStart(quirks: Quirks): { start?: number } {
  return quirks.has('ribbon-counter') ? { start: 0 } : {}
}

/** Ribbon's rules know no weights: the core lays none out for them. */
export const RULE = { timed: true, weights: 'plan', decayMs: DEFAULT_DECAY_MS } as const

/** Rules that take the dead for candidates by the quirk. */
export function ribbonDown(quirks: Quirks): { seesDown?: true; picksDown?: true } {
  return quirks.has('ribbon-best-ignores-alive') ? { seesDown: true, picksDown: true } : {}
}
