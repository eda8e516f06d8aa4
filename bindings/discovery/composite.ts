/** @module Several discovery clients as one. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { ConfigError } from '../errors.js'
import type { DiscoveryClient, DiscoveryFunction, WatchOptions } from '../types/extension.js'
import { type AskOptions, andThen } from './ask.js'
import { closeAll } from './close-all.js'
import { askInRace, askInTurn, askTogether, type Panel } from './composite-ask.js'
import type { CompositeMode } from './composite-list.js'
import { Member } from './composite-member.js'
import { CompositeWatch } from './composite-watch.js'
import { discoveryFrom } from './discovery-from.js'
import { messageOf } from './message-of.js'
import { TimeShare } from './time-share.js'

export interface CompositeOptions {
  /** 'first' (default): the first client that lists anybody. 'merge': all that any of them lists. */
  mode?: CompositeMode
}

/** Carried by composites: the clients that they ask. */
const MEMBERS = Symbol('evenkeel.members')

interface Composite extends DiscoveryClient {
  readonly [MEMBERS]: readonly DiscoveryClient[]
}

/** `timeoutMs` is left out by whoever asks a composite himself. */
type CompositeAsk = Pick<AskOptions, 'signal' | 'partlyFailed'> & { timeoutMs?: number }

/**
 * Asks several clients, in ascending `order` (default 0; equals as they are given). One that fails, that answers what
 * can't be read, or that takes longer than its part of `discoveryTimeoutMs` (asked in turn: its share of what is
 * left; merged: nearly all of it), is passed over; only if no other lists anybody is that a failure. Merged, an instance
 * that several list is taken from the first of them, and a client that fails contributes what it last said. As the value
 * of the option `discovery` an array is the same, with `discoveryMode`.
 *
 * Where one of them pushes, all are followed at once: what any says is in force when it says it, the others are asked
 * each `cache.ttlMs`, and of one that fails the last list goes on counting. (On Workers, and by `refresh()`, they are
 * asked each time; of a client that only pushes, the first list is taken.)
 * @throws EVENKEEL_CONFIG without a client
 * @example
 * const lb = createLoadBalancer({ discovery: compositeDiscovery([consul, simpleDiscovery(fixed)], { mode: 'merge' }) })
 */
export function compositeDiscovery(
  clients: readonly (DiscoveryClient | DiscoveryFunction)[],
  options: CompositeOptions = {},
): DiscoveryClient {
  return compositeOf(
    clients.map((client) => (typeof client === 'function' ? discoveryFrom(client) : client)),
    options.mode ?? 'first',
    NO_QUIRKS,
  )
}

export function compositeOf(clients: readonly DiscoveryClient[], mode: CompositeMode, quirks: Quirks): DiscoveryClient {
  if (clients.length === 0) {
    throw new ConfigError('a composite discovery needs a client', { option: 'discovery' })
  }
  const sorted = clients.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0))
  const labels = labelsOf(sorted)
  const membersFor = (serviceId: string) => sorted.map((client) => new Member(client, serviceId, quirks))
  const panels = new Map<string, Panel>()
  const watches = new Map<string, Panel>()
  async function* watch(serviceId: string, options: WatchOptions) {
    const own = new CompositeWatch(membersFor(serviceId), serviceId, mode)
    watches.set(serviceId, own)
    try {
      yield* own.lists(options)
    } finally {
      if (watches.get(serviceId) === own) watches.delete(serviceId)
    }
  }
  const askAll = mode === 'merge' ? askTogether : quirks.has('composite-race') ? askInRace : askInTurn
  const stopsAtError = quirks.has('composite-stops-at-error')
  // SCLB asks the registries of a composite each time: what its quirks are of can't be watched.
  const isWatched =
    sorted.some((client) => client.watch !== undefined) && !quirks.has('composite-race') && !stopsAtError
  const composite: Composite = {
    [MEMBERS]: sorted,
    name: sorted.map(({ name }) => name).join(', '),
    get(serviceId, { signal, timeoutMs, partlyFailed = () => {} }: CompositeAsk) {
      let panel = panels.get(serviceId)
      if (panel === undefined) panels.set(serviceId, (panel = { members: membersFor(serviceId), supplier: undefined }))
      const { members } = panel
      // Earlier failures say nothing of the answer to this question.
      for (const member of members) member.error = member.news = undefined
      return andThen(askAll(panel, { signal, time: new TimeShare(timeoutMs), stopsAtError }), (list) => {
        for (const { error, news } of members) {
          // Of a list that is handed on as it was said, the service tells what can't be read.
          const failed = error ?? (mode === 'merge' ? news : undefined)
          if (failed !== undefined) partlyFailed(failed)
        }
        return list
      })
    },
    ...(isWatched && { watch }),
    async services(options) {
      const names = await Promise.all(sorted.map((client) => client.services?.(options) ?? []))
      return [...new Set(names.flat())]
    },
    describe(serviceId) {
      const { members, supplier } = watches.get(serviceId) ?? panels.get(serviceId) ?? { members: [] }
      const all: Record<string, string> = {}
      for (const [i, client] of sorted.entries()) {
        const error = members[i]?.error
        const failed = error !== undefined && { failed: messageOf(error) }
        for (const [key, value] of Object.entries({ ...client.describe?.(serviceId), ...failed })) {
          all[`${labels[i]}.${key}`] = value
        }
      }
      return { ...all, ...(supplier !== undefined && { from: labels[supplier] as string }) }
    },
    close: () => closeAll(sorted),
  }
  return composite
}

/** The clients that have something to close: of a composite those that it asks. */
export function membersOf(client: DiscoveryClient): readonly DiscoveryClient[] {
  return MEMBERS in client ? (client as Composite)[MEMBERS].flatMap(membersOf) : [client]
}

/** Their names; the second client of a name is `name-2`. */
function labelsOf(clients: readonly DiscoveryClient[]): string[] {
  const seen = new Map<string, number>()
  return clients.map(({ name }) => {
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name}-${count}`
  })
}
