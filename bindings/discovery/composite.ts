/** @module Several discovery clients as one. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { ConfigError } from '../errors.js'
import type { DiscoveryClient, DiscoveryFunction } from '../types/extension.js'
import { Panel } from './composite-ask.js'
import { discoveryFrom } from './discovery-from.js'

export interface CompositeOptions {
  /** 'first' (default): the first client that lists anybody. 'merge': all that any of them lists. */
  mode?: 'first' | 'merge'
}

/** Carried by composites: the clients that they ask. */
const MEMBERS = Symbol('evenkeel.members')

interface Composite extends DiscoveryClient {
  readonly [MEMBERS]: readonly DiscoveryClient[]
}

/**
 * Asks several clients, in ascending `order` (default 0; equals as they are given). One that fails is passed over;
 * only if no other lists anybody is that a failure. Merged, an instance that several list is taken from the first of
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
  const panels = new Map<string, Panel>()
  const panelOf = (serviceId: string) => {
    let panel = panels.get(serviceId)
    if (panel === undefined) panels.set(serviceId, (panel = new Panel(members, serviceId, quirks)))
    return panel
  }
  const composite: Composite = {
    [MEMBERS]: members,
    name: members.map(({ name }) => name).join(', '),
    get(serviceId, { signal }) {
      const panel = panelOf(serviceId)
      if (mode === 'merge') return panel.together(signal)
      return quirks.has('composite-race') ? panel.inRace(signal) : panel.inTurn(signal)
    },
    async services(options) {
      const names = await Promise.all(members.map((client) => client.services?.(options) ?? []))
      return [...new Set(names.flat())]
    },
    describe(serviceId) {
      const descriptions = members.map((client, i) => {
        const failure = panels.get(serviceId)?.failureOf(i)
        const failed = failure instanceof Error ? failure.message : failure
        return { ...client.describe?.(serviceId), ...(failed !== undefined && { failed: String(failed) }) }
      })
      return prefixed(members, descriptions)
    },
    async close() {
      await Promise.all(members.map((client) => client.close?.()))
    },
  }
  return composite
}

/** The clients that have something to close: of a composite those that it asks. */
export function membersOf(client: DiscoveryClient): readonly DiscoveryClient[] {
  return MEMBERS in client ? (client as Composite)[MEMBERS].flatMap(membersOf) : [client]
}

/** All descriptions as one, each key behind its client's name; of the second client of a name behind `name-2`. */
function prefixed(
  clients: readonly DiscoveryClient[],
  descriptions: readonly Record<string, string>[],
): Record<string, string> {
  const seen = new Map<string, number>()
  const all: Record<string, string> = {}
  for (const [i, { name }] of clients.entries()) {
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    const prefix = count === 1 ? name : `${name}-${count}`
    for (const [key, value] of Object.entries(descriptions[i] ?? {})) all[`${prefix}.${key}`] = value
  }
  return all
}
