/** @module Several discovery clients as one. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { ConfigError } from '../errors.js'
import type { DiscoveryClient, DiscoveryFunction } from '../types/extension.js'
import { type AskOptions, isPromise, type List } from './ask.js'
import { closeAll } from './close-all.js'
import { Panel } from './composite-ask.js'
import { discoveryFrom } from './discovery-from.js'
import { messageOf } from './message-of.js'

export interface CompositeOptions {
  /** 'first' (default): the first client that lists anybody. 'merge': all that any of them lists. */
  mode?: 'first' | 'merge'
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
 * left; merged: nearly all of it), is passed over; only if no other lists anybody is that a failure. Merged, an instance that several list is taken from the first of
 * them, and a client that fails contributes what it last said. Each time it is asked; of a client that pushes, the
 * first list is taken. As the value of the option `discovery` an array is the same, with `discoveryMode`.
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

export function compositeOf(
  clients: readonly DiscoveryClient[],
  mode: 'first' | 'merge',
  quirks: Quirks,
): DiscoveryClient {
  if (clients.length === 0) {
    throw new ConfigError('a composite discovery needs a client', { option: 'discovery' })
  }
  const members = clients.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0))
  const labels = labelsOf(members)
  const panels = new Map<string, Panel>()
  const panelOf = (serviceId: string) => {
    let panel = panels.get(serviceId)
    if (panel === undefined) panels.set(serviceId, (panel = new Panel(members, serviceId, quirks)))
    return panel
  }
  const composite: Composite = {
    [MEMBERS]: members,
    name: members.map(({ name }) => name).join(', '),
    get(serviceId, { signal, timeoutMs, partlyFailed = () => {} }: CompositeAsk) {
      const panel = panelOf(serviceId)
      const question = panel.begin(signal, timeoutMs)
      const tell = (list: List) => {
        for (const error of panel.failures()) partlyFailed(error)
        return list
      }
      const answer =
        mode === 'merge'
          ? panel.together(question)
          : quirks.has('composite-race')
            ? panel.inRace(question)
            : panel.inTurn(question)
      return isPromise(answer) ? answer.then(tell) : tell(answer)
    },
    async services(options) {
      const names = await Promise.all(members.map((client) => client.services?.(options) ?? []))
      return [...new Set(names.flat())]
    },
    describe(serviceId) {
      const panel = panels.get(serviceId)
      const all: Record<string, string> = {}
      for (const [i, client] of members.entries()) {
        const failure = panel?.failureOf(i)
        const failed = failure === undefined ? {} : { failed: messageOf(failure) }
        for (const [key, value] of Object.entries({ ...client.describe?.(serviceId), ...failed })) {
          all[`${labels[i]}.${key}`] = value
        }
      }
      const supplier = panel?.supplier
      return supplier === undefined ? all : { ...all, from: labels[supplier] as string }
    },
    close: () => closeAll(members),
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
