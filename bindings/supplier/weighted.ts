/** @module Attaches weights to the list; policies go by them. Nothing is expanded. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { duration, func, number, object, oneOf, refuse } from '../config/check.js'
import { msOf } from '../config/duration.js'
import { MAX_WEIGHT } from '../instance.js'
import { reportOnce } from '../report.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { SlowStart } from '../service/slow-starts.js'
import type { Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import { parseJavaInt } from './java-int.js'
import { expandedList } from './spring-weights.js'
import { type CoreSupplier, STAGE } from './stage.js'

export interface WeightedOptions {
  /** Default: metadata `weight`. A result that is no number from 0 to 2^31 − 1 counts as 1. */
  weight?: (instance: ServiceInstance) => number
  /** How round robin goes over the weights 3, 2, 1: 'interleaved' A B C A B A (SCLB, default) or 'block' A A A B B C. */
  order?: 'interleaved' | 'block'
  /**
   * A changed weight moves the instance's share evenly from the old to the new over this many ms, in 20 steps; 0
   * (default): at once. A new instance has its weight at once.
   */
  rampMs?: number
  /**
   * An instance that joins others begins with a part of its weight and has all of it after `windowMs`: the share
   * (age / windowMs)^(1 / aggression) of it, `minShare` at least, in 20 steps. Aggression is 1 (default: evenly) or
   * more, `minShare` 0.1 by default. Instances of a first list are all new, and have their weights at once.
   */
  slowStart?: { windowMs: number; aggression?: number; minShare?: number }
}

/** What a service asks of its weighted supplier at each refresh. */
export interface Weighing {
  readonly order: 'interleaved' | 'block'
  readonly rampMs: number
  readonly slowStart: SlowStart | undefined
  /** Undefined: unreadable, counts as 1. */
  weightOf(instance: ServiceInstance, quirks: Quirks): number | undefined
}

const WEIGHING = Symbol('evenkeel.weighing')

const slowStart = object({
  windowMs: duration(1),
  aggression: number({ least: 1, most: 100 }),
  minShare: number({ least: 0, most: 1 }),
})
const check = object({
  weight: func('a function of an instance'),
  order: oneOf('interleaved', 'block'),
  rampMs: duration(),
  slowStart: (value, where) => {
    slowStart(value, where)
    if ((value as { windowMs?: unknown }).windowMs === undefined) refuse(where, value, '{ windowMs, … }')
  },
})

/**
 * Weights from metadata `weight`, or by a function; finite, three decimals count. Weight 0 drains: no picks while
 * any weight is positive. Round robin then gives exactly the weights' shares over a cycle, random draws by weight,
 * load-aware policies count load per weight. Over `rampMs` a change reaches any policy step by step, at picks; what
 * changes again on its way goes on from the weight in force, which `stats()` shows.
 * @see SCLB 4.1 WeightedServiceInstanceListSupplier
 * @example weighted({ order: 'block', rampMs: 30_000 })
 */
export function weighted(options: WeightedOptions = {}): Supplier {
  check(options, 'weighted')
  const { weight, order = 'interleaved' } = options
  const weighing: Weighing = {
    order,
    rampMs: msOf(options.rampMs) ?? 0,
    slowStart: options.slowStart && {
      windowMs: msOf(options.slowStart.windowMs) as number,
      aggression: options.slowStart.aggression ?? 1,
      minShare: options.slowStart.minShare ?? 0.1,
    },
    weightOf(instance, quirks) {
      const asJava = quirks.has('weighted-java-int')
      if (weight === undefined) return asJava ? javaWeight(instance.metadata.weight) : fromMetadata(instance)
      try {
        return asJava ? positiveInt(weight(instance)) : usable(weight(instance))
      } catch (error) {
        reportOnce(weight, 'the weight function of weighted()', error)
        return undefined
      }
    },
  }
  const supplier: CoreSupplier & { [WEIGHING]: Weighing } = {
    name: 'weighted',
    memoKey: () => undefined,
    filter(list) {
      const positive = list.filter((instance) => (weighing.weightOf(instance, NO_QUIRKS) ?? 1) > 0)
      return positive.length === 0 ? list : positive
    },
    [STAGE]: ({ serviceId, quirks }) => ({
      name: 'weighted',
      memo: 'fixed',
      foreign: false,
      mayHideRequest: true,
      key: () => undefined,
      cut: (list) => (quirks.has('weighted-expanded') ? expandedList(list, serviceId) : weighed(list)),
    }),
    [WEIGHING]: weighing,
  }
  return supplier
}

export function weighingOf(supplier: Supplier): Weighing | undefined {
  return (supplier as { [WEIGHING]?: Weighing })[WEIGHING]
}

/** The same candidates with their weights attached, less the drained ones. */
function weighed(list: CandidateList): Cut {
  const positive: number[] = []
  for (let i = 0; i < list.length; i++) {
    if (list.tree.members.weightAt(list.rowAt(i)) > 0) positive.push(i)
  }
  const drained = list.length - positive.length
  const everyOneDrained = positive.length === 0
  const kept = everyOneDrained ? list.instances.map((_, i) => i) : positive
  return {
    list: list.tree.pickOut(list, kept, true),
    fellBack: false,
    reason:
      drained === 0 ? undefined : everyOneDrained ? 'every weight is 0: all count alike' : `${drained} with weight 0`,
  }
}

function fromMetadata(instance: ServiceInstance): number | undefined {
  const text = instance.metadata.weight
  if (text === undefined) return 1
  return text.trim() === '' ? undefined : usable(Number(text))
}

function usable(weight: number): number | undefined {
  return weight >= 0 && weight <= MAX_WEIGHT ? Math.round(weight * 1000) / 1000 : undefined
}

/** SCLB's: what is no positive int counts as 1. */
function javaWeight(text: string | undefined): number | undefined {
  return text === undefined ? 1 : positiveInt(parseJavaInt(text))
}

function positiveInt(weight: number | undefined): number | undefined {
  return Number.isInteger(weight) && (weight as number) > 0 && (weight as number) <= MAX_WEIGHT ? weight : undefined
}
