/** @module Each client keeps a fixed part of a large list, of which a change of the list takes no more than it must. */

import { number, object, text } from '../config/check.js'
import { type Core, coreOf } from '../core/core.js'
import { ranksByHash } from '../core/hash-ranks.js'
import { entropy } from '../runtime/host.js'
import type { Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import { type CoreSupplier, STAGE } from './stage.js'

export interface RendezvousSubsetOptions {
  /** Names this client among its fellows. Default: the balancer's `instanceId`; without either, the service's seed does. */
  instanceId?: string
  /** Default 100. */
  size?: number
}

const check = object({ instanceId: text, size: number({ least: 1, most: 2 ** 31 - 1, whole: true }) })

/**
 * Of each instance XXH64 of its id, seeded by this client; the `size` instances with the smallest are kept, in the order
 * of the list. One that goes is replaced by one other, in those clients alone that had it; the order of the list does
 * not matter. Use it where connections of every client to every instance are too many and clients are not numbered.
 * Breaks the even load, as any draw does: of 300 clients with 30 of 300 instances each, shares differ by 18 % (standard
 * deviation; about 50 to 160 % of the mean), with 10 each by 31 %. Where clients have numbers, `aperture` is exact.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @see gRPC proposal A68, random subsetting with rendezvous hashing; Thaler and Ravishankar 1998
 * @example rendezvousSubset({ size: 20 })
 */
export function rendezvousSubset(options: RendezvousSubsetOptions = {}): Supplier {
  check(options, 'rendezvousSubset')
  const { size = 100 } = options
  let alone: number | undefined
  const supplier: CoreSupplier = {
    name: 'rendezvous-subset',
    memoKey: () => undefined,
    filter(list) {
      if (list.length <= size) return list
      const client = options.instanceId ?? String((alone ??= entropy()))
      const kept = nearest(coreOf(), list, client, size).map((index) => list[index] as ServiceInstance)
      return { list: kept, reason: keeps(kept, list) }
    },
    [STAGE]: ({ instanceId, seed }) => ({
      name: 'rendezvous-subset',
      memo: 'fixed',
      foreign: false,
      key: () => undefined,
      cut(list) {
        if (list.length <= size) return { list, fellBack: false, reason: undefined }
        const client = options.instanceId ?? instanceId ?? String(seed())
        const kept = list.tree.pickOut(list, nearest(list.tree.core, list.instances, client, size))
        return { list: kept, fellBack: false, reason: keeps(kept, list) }
      },
    }),
  }
  return supplier
}

/** Where in the list those stand that are this client's, ascending. */
function nearest(core: Core, list: readonly ServiceInstance[], client: string, size: number): number[] {
  const ids = list.map(({ instanceId }) => instanceId)
  return ranksByHash(core, ids, client)
    .slice(0, size)
    .sort((a, b) => a - b)
}

function keeps(kept: { length: number }, of: { length: number }): string {
  return `keeps ${kept.length} of ${of.length} for this client`
}
