/** @module Why a request would go where it goes: each layer's part, and what looks like a mistake. */

import { leftOut } from '../discovery/left-out.js'
import { messageOf } from '../discovery/message-of.js'
import { HEALTH_CHECK } from '../health/health-stage.js'
import { PRIMED } from '../health/primed-stage.js'
import type { ExplainedLayer, Explanation } from '../types/answers.js'
import type { PickRequest } from '../types/request.js'
import type { CandidateTree } from './candidates.js'
import { DRAINED } from './drains.js'
import type { Step } from './memo.js'
import type { BalancedService } from './service.js'

export function explain(service: BalancedService, tree: CandidateTree, request: PickRequest): Explanation {
  const { source, roster } = service
  const { chain } = service.picker
  const found = tree.root.length
  const steps = [...chain.steps(tree, request)]
  const before = steps.at(-1)?.list ?? tree.root
  if (request.previous?.length && chain.retries.avoidPrevious) {
    const step = chain.withoutPrevious(tree, before, request)
    steps.push(step)
    if (step.list !== before) tree.retire(step.list)
  }
  const { list } = steps.at(-1) ?? { list: before }
  const candidates = list.instances.filter((_, index) => !service.picker.passesOver(list, index))
  const layers = layersOf(service, found, steps)
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
    excluded: steps.flatMap((step) => excludedBy(service, step)),
    notes: [...notesOn(service, steps), ...notesOnPolicy(service, candidates.length)],
  }
}

/** What each layer did, discovery first. */
export function layersOf(service: BalancedService, found: number, steps: readonly Step[]): ExplainedLayer[] {
  const { source } = service
  const failure = source.lastError === undefined ? undefined : `failed: ${messageOf(source.lastError)}`
  const age = source.listed ? { ageMs: source.ageMs } : {}
  const layers: ExplainedLayer[] = [
    { name: 'discovery', in: found, out: found, ...(failure && { reason: failure }), ...age },
  ]
  if (source.ages && service.settings.cached) layers.push({ name: 'cache', in: found, out: found, ...age })
  for (const { stage, from, list, fellBack, reason } of steps) {
    if (stage === DRAINED && list === from) continue
    layers.push({
      name: stage,
      in: from.length,
      out: list.length,
      ...(fellBack && { fellBack: true }),
      ...(reason !== undefined && { reason }),
    })
  }
  return layers
}

function excludedBy({ health, priming, picker }: BalancedService, step: Step): Explanation['excluded'] {
  const isCheck = step.stage === HEALTH_CHECK
  if (step.list === step.from && !isCheck) return []
  const { list } = step
  // A check may leave in the list, marked, whom the policy passes over.
  const kept = new Set(list.instances.filter((_, index) => !(isCheck && picker.passesOver(list, index))))
  const own = isCheck ? health : step.stage === PRIMED ? priming : undefined
  return step.from.instances
    .filter((instance, index) => !kept.has(instance) && (isCheck || !picker.passesOver(step.from, index)))
    .map((instance) => ({
      instanceId: instance.instanceId,
      by: step.stage,
      reason: own?.reasonOf(instance) ?? step.reason ?? `${step.stage} left it out`,
    }))
}

/** Metadata that only these suppliers give a meaning, and for zones the policies that go by them. */
const MEANT_FOR: Record<string, readonly [string, ...string[]]> = {
  weight: ['weighted'],
  zone: ['zone-preference', 'zone-affinity', 'zone-aware'],
  hint: ['hint'],
  API_VERSION: ['api-version'],
  canary: ['canary'],
}

const GIVEN_TO_ALL = new Set(['weight', 'zone'])

function notesOnPolicy({ picker, settings }: BalancedService, candidates: number): string[] {
  const { engine, chain } = picker
  const note = engine?.note?.(candidates)
  const notes = note === undefined ? [] : [note]
  if (engine?.keyed !== true) return notes
  for (const supplier of chain.unremembered()) {
    notes.push(`"${supplier}" has no memoKey: ${settings.policy.name} lays out its table anew at each pick`)
  }
  return notes
}

function notesOn(service: BalancedService, steps: readonly Step[]): string[] {
  const notes: string[] = []
  const instances = service.instances()
  const { picker } = service
  const meaning = new Set(service.settings.suppliers.map(({ name }) => name))
  if (picker.engines.zones) meaning.add('zone-aware')
  for (const [key, meant] of Object.entries(MEANT_FOR)) {
    const values = instances.map(({ metadata }) => metadata[key])
    const count = values.filter((value) => value !== undefined).length
    // Registries give each instance a weight and a zone: where they are all the same there is nothing to go by.
    const differs = new Set(values).size > 1 || !GIVEN_TO_ALL.has(key)
    if (count > 0 && differs && !meant.some((name) => meaning.has(name))) {
      notes.push(
        `${count} of ${instances.length} instances have ${key} metadata, but "${meant[0]}" is not among the suppliers`,
      )
    }
  }
  for (const id of service.roster.unreadableWeights) notes.push(`the weight of "${id}" can't be read and counts as 1`)
  for (const id of service.roster.mergedDuplicates)
    notes.push(`"${id}" was listed more than once: its first entry counts`)
  const { unreadable } = service.roster
  if (unreadable.length > 0) notes.push(leftOut(unreadable))
  for (const step of steps) {
    if (step.reason === 'own zone unset') notes.push(`own zone unset: ${step.stage} keeps everything`)
    if (step.fellBack) notes.push(`${step.stage} fell back to ${step.list.length} instances: ${step.reason}`)
  }
  for (const { strict, after } of service.picker.chain.misplaced()) {
    notes.push(`"${strict}" is strict and comes after the preference "${after}": list it before`)
  }
  for (const id of service.drains.ids()) {
    if (!instances.some(({ instanceId }) => instanceId === id)) notes.push(`"${id}" is drained and not in the list`)
  }
  if (picker.goesByBreakers) notes.push(...openBreakers(service))
  const { source } = service
  if (source.lastError !== undefined && source.listed) {
    const isEmptied = service.settings.quirks.has('discovery-failure-empties')
    notes.push(`discovery failed: ${isEmptied ? 'nobody' : 'the last good list'} is served`)
  }
  if (source.doubt.since !== undefined) {
    const nowMs = service.clock()
    const [sinceMs, leftMs] = [nowMs - source.doubt.since, source.doubt.leftMs(nowMs)].map(Math.round)
    notes.push(`the registry lists nobody since ${sinceMs} ms; the last list is kept for ${leftMs} ms`)
  }
  return notes
}

function openBreakers({ picker, roster: { members }, clock }: BalancedService): string[] {
  const nowMs = clock()
  return members.instances.flatMap((instance) => {
    const untilMs = picker.core.exports.trippedUntil(members.block, members.rowOf(instance))
    return untilMs > nowMs
      ? [`"${instance.instanceId}": breaker open for another ${Math.round(untilMs - nowMs)} ms`]
      : []
  })
}
