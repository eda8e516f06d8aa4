/** @module Numbered clients share a large list so that each sees a part of it, and all parts together weigh alike. */

import { number, object, refuse, text } from '../config/check.js'
import { type Core, coreOf } from '../core/core.js'
import { ranksByHash } from '../core/hash-ranks.js'
import { ConfigError } from '../errors.js'
import { MAX_WEIGHT } from '../instance.js'
import type { CandidateList, CandidateTree } from '../service/candidates.js'
import type { Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import { overlapsOf } from './ring-overlaps.js'
import { ALONE, type CoreSupplier, STAGE, type StageContext } from './stage.js'

export interface ApertureOptions {
  /** How many clients there are, this one among them. */
  clients: number
  /** This client's number among them, from 0. Default: the digits at the end of `instanceId`, as in `web-7`. */
  index?: number
  /** Names this client. Default: the balancer's `instanceId`. */
  instanceId?: string
  /** An aperture has no fewer instances' worth of weight. Default 12, Finagle's. */
  minAperture?: number
}

const MOST_CLIENTS = 65_536
const check = object({
  clients: number({ least: 1, most: MOST_CLIENTS, whole: true }),
  index: number({ least: 0, most: MOST_CLIENTS - 1, whole: true }),
  instanceId: text,
  minAperture: number({ least: 1, most: 2 ** 31 - 1, whole: true }),
})

/**
 * Deterministic aperture: instances stand on a ring in the order of XXH64 of their ids, each with an equal part of it;
 * client i of C looks at it from i / C on, as wide as `minAperture` instances, rounded up to a multiple of 1 / C. What
 * it sees of an instance is the weight of it (times its own weight, where `weighted` is listed too), so all clients
 * together give every instance exactly the same. Every policy that goes by weights keeps to it.
 * Use it where clients are numbered, as the pods of a StatefulSet are. Breaks when they don't agree on `clients` or on
 * the list, or send unequal traffic; a change of either moves every aperture a little. Comes before suppliers that go by
 * the request: an aperture for each of their answers would be connections to everybody again.
 * @throws EVENKEEL_CONFIG for options that can't be used; when the service is made, if this client has no number below
 * `clients`
 * @see Finagle, DeterministicAperture.scala and Ring.scala
 * @example aperture({ clients: 40, index: 7 })
 */
export function aperture(options: ApertureOptions): Supplier {
  check(options, 'aperture')
  const { clients, index, minAperture = 12 } = options
  if (clients === undefined) refuse('aperture.clients', clients, 'given: how many clients there are')
  if (index !== undefined && index >= clients) refuse('aperture.index', index, `below clients, which is ${clients}`)
  const supplier: CoreSupplier = {
    name: 'aperture',
    memoKey: () => undefined,
    filter(list) {
      const number = index ?? numberOf(options.instanceId, clients, ALONE)
      const seen = seenOf(coreOf(), list, clients, number, minAperture)
      if (seen.size === list.length) return list
      const kept = list.filter((_, i) => seen.has(i))
      return { list: kept, reason: keeps(kept, list, clients, number) }
    },
    [STAGE](context) {
      const number = index ?? numberOf(options.instanceId ?? context.instanceId, clients, context)
      /** By row, for each list in force. A retry's own lists, of what was not tried, keep to the same. */
      const factors = new WeakMap<CandidateTree, ReadonlySet<number>>()
      return {
        name: 'aperture',
        memo: 'fixed',
        foreign: false,
        beforeRequests: true,
        once: true,
        key: () => undefined,
        cut(list) {
          let rows = factors.get(list.tree)
          if (rows === undefined) {
            rows = weigh(list, (distinct) => seenOf(list.tree.core, distinct, clients, number, minAperture))
            factors.set(list.tree, rows)
          }
          const kept = firstOfEach(list).filter((i) => rows.has(list.rowAt(i)))
          if (kept.length === 0) return { list, fellBack: true, reason: 'nobody else in this aperture' }
          const cut = list.tree.pickOut(list, kept, true)
          return { list: cut, fellBack: false, reason: keeps(cut, list, clients, number) }
        },
      }
    },
  }
  return supplier
}

/** What client `number` sees of each instance, by its place in the list. */
function seenOf(
  core: Core,
  list: readonly ServiceInstance[],
  clients: number,
  number: number,
  minAperture: number,
): ReadonlyMap<number, number> {
  const ids = list.map(({ instanceId }) => instanceId)
  const ring = ranksByHash(core, ids)
  const overlaps = overlapsOf(clients, number, ids.length, minAperture)
  return new Map(Array.from(overlaps, ([place, overlap]) => [ring[place] as number, overlap]))
}

/** Scales the weights of the list's instances by what is seen of them; the rows of those that are seen. */
function weigh(
  list: CandidateList,
  see: (distinct: readonly ServiceInstance[]) => ReadonlyMap<number, number>,
): ReadonlySet<number> {
  const { members } = list.tree
  const distinct = firstOfEach(list)
  const rows = distinct.map((i) => list.rowAt(i))
  const seen = see(distinct.map((i) => list.instance(i)))
  let most = 0
  for (const [i, units] of seen) most = Math.max(most, units * members.ownWeightAt(rows[i] as number))
  const unit = Math.min(1, MAX_WEIGHT / most)
  rows.forEach((row, i) => {
    members.scaleWeight(row, (seen.get(i) ?? 1) * unit)
  })
  return new Set(Array.from(seen.keys(), (i) => rows[i] as number))
}

/** A list that was written out by weights has an instance several times; its row has its weight already. */
function firstOfEach(list: CandidateList): number[] {
  const rows = new Set<number>()
  return list.instances.flatMap((_, i) => (rows.size < rows.add(list.rowAt(i)).size ? [i] : []))
}

function numberOf(instanceId: string | undefined, clients: number, { serviceId }: StageContext): number {
  const digits = /\d+$/.exec(instanceId ?? '')?.[0]
  if (digits !== undefined && Number(digits) < clients) return Number(digits)
  const of = serviceId && ` of service "${serviceId}"`
  throw new ConfigError(
    `aperture${of} needs index, this client's number below ${clients}, or an instanceId that ends in it; ` +
      (instanceId === undefined ? 'neither is given' : `"${instanceId}" does not`),
    { option: 'aperture.index', ...(serviceId && { serviceId }) },
  )
}

function keeps(kept: { length: number }, of: { length: number }, clients: number, number: number): string {
  return `keeps ${kept.length} of ${of.length} for client ${number} of ${clients}`
}
