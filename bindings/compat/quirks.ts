/** @module SCLB's and Ribbon's behaviours that are known defects: off unless asked for. docs/quirks.md tells both sides. */

import { ConfigError } from '../errors.js'
import { show } from '../show.js'

/** In the order of docs/quirks.md. */
export const SPRING_QUIRKS = [
  'no-list-no-response',
  'health-keeps-client-open',
  'discovery-timeout-late',
  'discovery-failure-empties',
  'cache-no-single-flight',
  'cache-no-stale',
  'health-publish-each',
  'health-list-once',
  'hint-default',
  'same-instance-by-metadata',
  'retry-aware-one-row',
  'retry-aware-no-second-list',
  'api-version-required-ignored',
  'api-version-bad-request',
  'api-version-bad-instance',
  'round-robin-shared-cursor',
  'weighted-java-int',
  'weighted-expanded',
  'subset-unsorted',
  'preset-unknown-empty',
  'retry-get-only',
  'retry-exceptions-drop-status',
  'retry-hides-previous',
  'retry-post-on-exception',
  'retry-same-moves-on',
  'cancelled-not-completed',
  'choose-error-not-completed',
  'meters-without-uri',
  'x-forwarded-instance',
  'sticky-cookie-appends',
  'cookie-split-equals',
  'wss-port-80',
  'uri-double-encode',
  'ipv6-unbracketed',
  'composite-race',
  'composite-stops-at-error',
] as const

/** In the order of docs/quirks.md. */
export const RIBBON_QUIRKS = [
  'ribbon-counter',
  'ribbon-ten-probes',
  'ribbon-random-index',
  'ribbon-weights-lifetime',
  'ribbon-weights-zero-first',
  'ribbon-best-ignores-alive',
  'ribbon-zone-draw-per-server',
  'ribbon-zone-drops-good',
  'ribbon-zone-preference-again',
  'ribbon-subset-biased-shuffle',
  'ribbon-refresh-revives',
  'ribbon-ping-serial',
  'ribbon-ping-content-only',
  'ribbon-ping-follows-redirects',
  'ribbon-prime-ready-on-failure',
  'ribbon-percentiles-empty',
  'ribbon-next-may-repeat',
  'ribbon-reset-is-connect',
  'ribbon-trips-by-class',
  'ribbon-split-at-colon',
] as const

const QUIRKS: readonly unknown[] = [...SPRING_QUIRKS, ...RIBBON_QUIRKS]

export type QuirkId = (typeof SPRING_QUIRKS)[number] | (typeof RIBBON_QUIRKS)[number]

export type Quirks = ReadonlySet<QuirkId>

export const NO_QUIRKS: Quirks = new Set()

const GROUPS = { spring: SPRING_QUIRKS, ribbon: RIBBON_QUIRKS } as const

function groupOf(name: unknown): readonly QuirkId[] | undefined {
  return typeof name === 'string' && Object.hasOwn(GROUPS, name) ? GROUPS[name as keyof typeof GROUPS] : undefined
}

/** @throws EVENKEEL_CONFIG for an id that is none */
export function quirksOf(compat: unknown): Quirks {
  if (compat === undefined) return NO_QUIRKS
  const whole = groupOf(compat)
  if (whole !== undefined) return new Set(whole)
  if (!Array.isArray(compat)) {
    throw new ConfigError(`compat must be 'spring', 'ribbon' or an array of these and quirk ids, not ${show(compat)}`, {
      option: 'compat',
    })
  }
  for (const [i, id] of compat.entries()) {
    if (groupOf(id) !== undefined || QUIRKS.includes(id)) continue
    throw new ConfigError(
      `compat[${i}]: there is no quirk ${show(id)}; known: ${[...Object.keys(GROUPS), ...QUIRKS].join(', ')}`,
      { option: `compat[${i}]` },
    )
  }
  return new Set((compat as (keyof typeof GROUPS | QuirkId)[]).flatMap((id) => groupOf(id) ?? [id as QuirkId]))
}
