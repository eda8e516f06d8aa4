/** @module Why a request would go where it goes: each layer's part, and what looks like a mistake. */

import { cutPrevious, RETRY_AWARE } from '../supplier/retry-aware.js'
import type { ExplainedLayer, Explanation } from '../types/answers.js'
import type { PickRequest } from '../types/request.js'
import type { CandidateTree } from './candidates.js'
import type { Step } from './memo.js'
import type { BalancedService } from './service.js'

export function explain(service: BalancedService, tree: CandidateTree, request: PickRequest): Explanation {
  const { source, roster } = service
  const { chain } = service.picker
  const found = tree.root.length
  const steps = [...chain.steps(tree, request)]
  const before = steps.at(-1)?.list ?? tree.root
  let candidates = before.instances
  if (request.previous?.length && chain.avoidPrevious) {
    const cut = cutPrevious(before, request.previous)
    steps.push({ ...cut, stage: RETRY_AWARE, from: before })
    candidates = cut.list.instances
    if (cut.list !== before) tree.retire(cut.list)
  }
  const failure =
    source.lastError === undefined
      ? undefined
      : `failed: ${source.lastError instanceof Error ? source.lastError.message : source.lastError}`
  const age = source.listed ? { ageMs: source.ageMs } : {}
  const layers: ExplainedLayer[] = [
    { name: 'discovery', in: found, out: found, ...(failure && { reason: failure }), ...age },
  ]
  if (source.ages && service.settings.cache !== undefined) layers.push({ name: 'cache', in: found, out: found, ...age })
  for (const step of steps) {
    layers.push({
      name: step.stage,
      in: step.from.length,
      out: step.list.length,
      ...(step.fellBack && { fellBack: true }),
      ...(step.reason !== undefined && { reason: step.reason }),
    })
  }
  return {
    serviceId: service.serviceId,
    policy: service.settings.policy.name,
    source: {
      ...source.client?.describe?.(service.serviceId),
      discovery: source.client?.name ?? 'static',
      version: String(roster.version),
      orderDigest: roster.orderDigest(),
    },
    layers,
    candidates,
    excluded: steps.flatMap(excludedBy),
    notes: notesOn(service, steps),
  }
}

function excludedBy(step: Step): Explanation['excluded'] {
  if (step.list === step.from) return []
  const kept = new Set(step.list.instances)
  return step.from.instances
    .filter((instance) => !kept.has(instance))
    .map(({ instanceId }) => ({ instanceId, by: step.stage, reason: step.reason ?? `${step.stage} left it out` }))
}

/** Metadata that only a supplier gives a meaning. */
const MEANT_FOR: Record<string, string> = { weight: 'weighted', zone: 'zone-preference', hint: 'hint' }

function notesOn(service: BalancedService, steps: readonly Step[]): string[] {
  const notes: string[] = []
  const instances = service.instances()
  const suppliers = new Set(service.settings.suppliers.map(({ name }) => name))
  for (const [key, supplier] of Object.entries(MEANT_FOR)) {
    const count = instances.filter(({ metadata }) => metadata[key] !== undefined).length
    if (count > 0 && !suppliers.has(supplier)) {
      notes.push(
        `${count} of ${instances.length} instances have ${key} metadata, but "${supplier}" is not among the suppliers`,
      )
    }
  }
  for (const id of service.roster.unreadableWeights) notes.push(`the weight of "${id}" can't be read and counts as 1`)
  for (const id of service.roster.mergedDuplicates)
    notes.push(`"${id}" was listed more than once: its first entry counts`)
  for (const step of steps) {
    if (step.reason === 'own zone unset') notes.push('own zone unset: zone-preference keeps everything')
    if (step.fellBack) notes.push(`${step.stage} fell back to ${step.list.length} instances: ${step.reason}`)
  }
  if (service.source.lastError !== undefined && service.source.listed)
    notes.push('discovery failed: the last good list is served')
  return notes
}
