/** @module Each client keeps a changing part of a large list: the worst leave, others are drawn. */

import { duration, number, object } from '../config/check.js'
import { msOf } from '../config/duration.js'
import type { CandidateList } from '../service/candidates.js'
import type { Supplier } from '../types/extension.js'
import { type CoreSupplier, REFILTER_MS, STAGE, type StageContext } from './stage.js'

export interface ServerListSubsetOptions {
  /** Default 20. */
  size?: number
  /** The share of `size` that is exchanged each time at least, healthy or not. Default 0.1. */
  forceEliminatePercent?: number
  /** With more failures of the current `failureWindowMs` an instance leaves. Default 0. */
  failureThreshold?: number
  /** With more requests in flight an instance leaves. Default 0. */
  connectionThreshold?: number
  /** How often, for lists that nobody asks for anew. Default 30 000. */
  periodMs?: number
}

const SIZE = 20

const whole = { least: 0, most: 2 ** 31 - 1, whole: true }
const check = object({
  size: number({ ...whole, least: 1 }),
  forceEliminatePercent: number({ least: 0, most: 1 }),
  failureThreshold: number(whole),
  connectionThreshold: number(whole),
  periodMs: duration(1),
})

/**
 * A subset of `size` instances. When a list comes, and each `periodMs` with picks, those leave that are gone, busy or
 * failing, and at least `forceEliminatePercent` of `size`, the worst first; others are drawn for them.
 *
 * Breaks with the default thresholds of 0, which are Ribbon's: whoever has a request in flight at that moment leaves,
 * so that under load the whole subset changes every 30 s. And with few clients: what nobody has drawn idles; `subset`
 * spreads clients evenly.
 * @throws EVENKEEL_CONFIG for options that can't be used; when the service is made, if it comes after a supplier that
 * goes by the request
 * @see Ribbon 2.7 ServerListSubsetFilter
 * @example serverListSubset({ size: 20, connectionThreshold: 100, failureThreshold: 5 })
 */
export function serverListSubset(options: ServerListSubsetOptions = {}): Supplier {
  check(options, 'serverListSubset')
  const supplier: CoreSupplier = {
    name: 'server-list-subset',
    memoKey: () => undefined,
    // Without a service there are no statistics to go by, and nothing to draw from.
    filter: (list) => list.slice(0, options.size ?? SIZE),
    [STAGE](context) {
      context.recordServerStats()
      let last: NextSubset = { members: new Set(), eliminated: 0, forced: 0 }
      let refreshes = -1
      return {
        name: 'server-list-subset',
        memo: 'fixed',
        foreign: false,
        periodMs: msOf(options.periodMs) ?? REFILTER_MS,
        beforeRequests: true,
        key: () => undefined,
        cut(list) {
          if (refreshes !== context.refreshes()) {
            refreshes = context.refreshes()
            last = refreshed(last.members, list, context, options)
          }
          const { members, eliminated, forced } = last
          const kept: number[] = []
          for (let i = 0; i < list.length; i++) if (members.has(list.instance(i).instanceId)) kept.push(i)
          if (kept.length === 0) return { list, fellBack: true, reason: 'nobody of the subset is left' }
          const left = `${eliminated} left it, ${forced} of them by force`
          const reason = `keeps ${kept.length} of ${list.length}; ${left}`
          return { list: kept.length === list.length ? list : list.tree.pickOut(list, kept), fellBack: false, reason }
        },
      }
    },
  }
  return supplier
}

function refreshed(
  members: ReadonlySet<string>,
  list: CandidateList,
  { clock, draw, quirks }: StageContext,
  options: ServerListSubsetOptions,
): NextSubset {
  const { exports } = list.tree.core
  const { block } = list.tree.members
  const nowMs = clock()
  const rows = new Map(list.instances.map(({ instanceId }, i) => [instanceId, list.rowAt(i)]))
  return nextSubset(members, [...rows.keys()], {
    size: options.size ?? SIZE,
    forceEliminatePercent: options.forceEliminatePercent ?? 0.1,
    failureThreshold: options.failureThreshold ?? 0,
    connectionThreshold: options.connectionThreshold ?? 0,
    draw,
    biased: quirks.has('ribbon-subset-biased-shuffle'),
    loadOf(instanceId) {
      const row = rows.get(instanceId) as number
      return {
        failures: exports.failuresInWindow(block, row, nowMs),
        active: exports.activeRequests(block, row, nowMs),
      }
    },
  })
}

export interface NextSubset {
  readonly members: ReadonlySet<string>
  /** How many have left it. */
  readonly eliminated: number
  /** So many of them although they were well. */
  readonly forced: number
}

interface Terms {
  readonly size: number
  readonly forceEliminatePercent: number
  readonly failureThreshold: number
  readonly connectionThreshold: number
  loadOf(id: string): { failures: number; active: number }
  /** Uniform in [0, 1). */
  draw(): number
  /** Draws over the whole list at each step, as Ribbon does. */
  readonly biased: boolean
}

/** What becomes of a subset of `pool`, in Ribbon's steps. */
export function nextSubset(current: ReadonlySet<string>, pool: readonly string[], terms: Terms): NextSubset {
  const { size, failureThreshold, connectionThreshold } = terms
  const candidates = new Set(pool)
  const next = new Set(current)
  const loads = new Map([...current].filter((id) => candidates.has(id)).map((id) => [id, terms.loadOf(id)]))
  const of = (id: string) => loads.get(id) as { failures: number; active: number }
  for (const id of current) {
    if (!candidates.has(id)) {
      next.delete(id)
    } else if (of(id).active > connectionThreshold || of(id).failures > failureThreshold) {
      next.delete(id)
      candidates.delete(id)
    }
  }
  const eliminated = current.size - next.size
  // Ribbon multiplies floats: 0.29 of 100 are 29 there.
  const least = Math.trunc(Math.fround(size * Math.fround(terms.forceEliminatePercent)))
  const excess = size < next.size ? next.size - size : Math.max(least - eliminated, 0)
  const forced = Math.min(excess, next.size)
  const worst = [...next].sort((a, b) => of(b).failures - of(a).failures || of(b).active - of(a).active)
  for (const id of worst.slice(0, forced)) {
    next.delete(id)
    candidates.delete(id)
  }
  const missing = size - next.size
  if (missing > 0) {
    const others = (ids: Iterable<string>) => [...ids].filter((id) => !next.has(id))
    const fresh = others(candidates)
    for (const id of drawn(missing > fresh.length ? others(pool) : fresh, missing, terms)) next.add(id)
  }
  return { members: next, eliminated: eliminated + forced, forced }
}

function drawn(ids: string[], count: number, { draw, biased }: Terms): string[] {
  if (count >= ids.length) return ids
  for (let i = 0; i < count; i++) {
    const from = biased ? 0 : i
    const j = from + Math.floor(draw() * (ids.length - from))
    const chosen = ids[j] as string
    ids[j] = ids[i] as string
    ids[i] = chosen
  }
  return ids.slice(0, count)
}
