/** @module Ribbon's rule with the keys that it reads, and the zone-aware balancer around it, as a policy. */

import type { ServiceOptions } from '../types/options.js'
import type { Property } from './property.js'
import type { Report } from './report.js'
import type { Settings } from './settings.js'

type Named = string | { type: string; [option: string]: unknown }

/** The groups of keys that a policy takes as options, by Ribbon's names of what reads them. */
const READERS: Readonly<Record<string, { policies: readonly string[]; rules: string }>> = {
  availability: {
    policies: ['availability-filtering', 'zone-avoidance'],
    rules: 'AvailabilityFilteringRule or ZoneAvoidanceRule',
  },
  zones: { policies: ['zone-avoidance', 'zone-aware'], rules: 'ZoneAvoidanceRule or ZoneAwareLoadBalancer' },
  weights: { policies: ['weighted-response-time'], rules: 'WeightedResponseTimeRule' },
}

export function ribbonPolicy(settings: Settings, report: Report): ServiceOptions['policy'] {
  const rule = ruleIn(settings, report)
  const policies = [rule, zoneAwareIn(settings, report)].filter((name) => name !== undefined)
  const read = new Map(policies.map((name) => [name, optionsOf(name, settings, report)]))
  tellIdle(policies, settings, report)
  const [inner, outer] = policies
  if (inner === undefined) return undefined
  const policy = named(inner, read.get(inner))
  return outer === undefined ? policy : named(outer, { policy, ...read.get(outer) })
}

/** Without the part that avoids zones its rule is the other one. */
function ruleIn(settings: Settings, report: Report): string | undefined {
  const name = settings.get('rule')?.name
  const from = settings.from('zoneRule.enabled')
  if (from === undefined || name !== 'zone-avoidance') return name
  report.use([from])
  return settings.get('zoneRule.enabled') ? name : 'availability-filtering'
}

/** The zone-aware balancer, where the file names it, around a rule that is one of Ribbon's. */
function zoneAwareIn(settings: Settings, report: Report): string | undefined {
  const from = settings.from('balancer')
  if (from === undefined || settings.get('balancer')?.name === undefined) return undefined
  const gate = settings.from('zoneAware.enabled')
  if (gate !== undefined) report.use([gate])
  if (settings.get('zoneAware.enabled') === false) return undefined
  const rule = settings.get('rule')
  if (rule === undefined || rule.name !== undefined) return 'zone-aware'
  report.warn(from, 'not translated: put the policy that you write into zoneAware({ policy })')
  return undefined
}

function optionsOf(policy: string, settings: Settings, report: Report): Record<string, unknown> {
  const options: Record<string, unknown> = {}
  for (const [group, { policies }] of Object.entries(READERS)) {
    if (!policies.includes(policy)) continue
    const { values, from } = settings.group(group)
    report.use(from)
    Object.assign(options, group === 'availability' ? availability(values) : values)
  }
  return options
}

/** A limit of −1 is none; that of a client comes before that of all. */
function availability({ activeLimit, allLimit, filterTripped }: Record<string, unknown>): Record<string, unknown> {
  const limit = [activeLimit, allLimit].find((limit) => limit !== undefined && (limit as number) > 0)
  return {
    ...(limit !== undefined && { activeLimit: limit }),
    ...(filterTripped === false && { filterTripped }),
  }
}

function tellIdle(policies: readonly string[], settings: Settings, report: Report): void {
  for (const [group, { policies: readers, rules }] of Object.entries(READERS)) {
    if (readers.some((reader) => policies.includes(reader))) continue
    idle(settings.group(group).from, rules, readers[0] as string, report)
  }
  const rest: [Property | undefined, string, string][] = [
    [settings.from('zoneRule.enabled'), 'ZoneAvoidanceRule', 'zone-avoidance'],
    [settings.from('zoneAware.enabled'), 'ZoneAwareLoadBalancer', 'zone-aware'],
  ]
  for (const [from, rules, policy] of rest) if (from !== undefined) idle([from], rules, policy, report)
}

function idle(from: readonly Property[], rules: string, policy: string, report: Report): void {
  report.idle(
    from,
    `no effect: ${rules} reads it, and the file names no such class; to have it, add policy '${policy}'`,
  )
}

function named(type: string, options: Record<string, unknown> = {}): Named {
  return Object.keys(options).length === 0 ? type : { type, ...options }
}
