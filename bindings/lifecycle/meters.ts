/** @module SCLB's request meters as plain numbers, for `stats().meters`. */

import { pathOf } from '../client/uri.js'
import type { Quirks } from '../compat/quirks.js'
import { guarded } from '../report.js'
import type { AsyncScope } from '../runtime/async-scope.js'
import type { MeterSeries } from '../types/answers.js'
import type { ServiceInstance } from '../types/instance.js'
import type { MetricsOptions } from '../types/options.js'
import type { PickRequest } from '../types/request.js'
import type { CompleteEvent } from './observers.js'
import { OTHER, type Series, SeriesSet, type Tags } from './series.js'

const UNKNOWN = 'UNKNOWN'
const DEFAULT_MAX_SERIES = 200

/** What meters need of their service. */
export interface MeteredService {
  readonly serviceId: string
  readonly settings: { readonly quirks: Quirks }
  isListed(instance: ServiceInstance): boolean
}

/**
 * A gauge of the attempts under way, a timer of the answers and one of the failures, a counter of the calls that found
 * no instance. A cancelled attempt leaves the gauge and counts nowhere else. What an instance's last requests come to
 * after it has left the list is counted under OTHER: there would be nothing to drop those series with.
 * @see SCLB 5.0 MicrometerStatsLoadBalancerLifecycle
 */
export class Meters {
  readonly #service: MeteredService
  readonly #options: MetricsOptions
  readonly #scope: AsyncScope
  readonly #active: SeriesSet
  readonly #success: SeriesSet
  readonly #failed: SeriesSet
  readonly #discard: SeriesSet

  constructor(service: MeteredService, options: MetricsOptions, scope: AsyncScope) {
    const { maxSeries = DEFAULT_MAX_SERIES } = options
    this.#service = service
    this.#options = options
    this.#scope = scope
    this.#active = new SeriesSet(maxSeries)
    this.#success = new SeriesSet(maxSeries)
    this.#failed = new SeriesSet(maxSeries)
    this.#discard = new SeriesSet(maxSeries)
  }

  /** The gauge that the attempt is counted in until it is completed. */
  started(instance: ServiceInstance): Series {
    const { serviceId } = this.#service
    const tags = { ...this.#ownTags({ serviceId, instance }), ...this.#instanceTags(instance) }
    const series = this.#active.at(tags, this.#listed(instance))
    series.count++
    return series
  }

  completed(event: CompleteEvent, active: Series | undefined): void {
    if (active !== undefined) {
      active.count--
      if (this.#isOver(active)) this.#active.dropIf((series) => series === active)
    }
    const { status, request, instance, durationMs } = event
    if (status === 'CANCELLED') return
    const { serviceId, settings } = this.#service
    const own = this.#ownTags(event)
    const called = this.#callTags(request)
    if (status === 'DISCARD') {
      this.#discard.at({ ...own, ...called, serviceId }, undefined).count++
      return
    }
    const to = { ...own, ...this.#instanceTags(instance) }
    if (status === 'FAILED') {
      time(this.#failed.at({ ...to, exception: nameOf(event.error), ...called }, this.#listed(instance)), durationMs)
      return
    }
    const seen = settings.quirks.has('meters-without-uri') ? { method: UNKNOWN, uri: UNKNOWN } : called
    time(this.#success.at({ ...to, ...seen, ...answerTags(event.response) }, this.#listed(instance)), durationMs)
  }

  /** Series of instances that have left are dropped; a gauge when its last request has ended. */
  listChanged(): void {
    this.#active.dropIf((series) => this.#isOver(series))
    for (const set of [this.#success, this.#failed]) set.dropIf((series) => this.#hasLeft(series))
  }

  list(): MeterSeries[] {
    return [
      ...countsOf('loadbalancer.requests.active', this.#active),
      ...timesOf('loadbalancer.requests.success', this.#success),
      ...timesOf('loadbalancer.requests.failed', this.#failed),
      ...countsOf('loadbalancer.requests.discard', this.#discard),
    ]
  }

  #hasLeft({ instance }: Series): boolean {
    return instance !== undefined && !this.#service.isListed(instance)
  }

  #isOver(gauge: Series): boolean {
    return gauge.count === 0 && this.#hasLeft(gauge)
  }

  #listed(instance: ServiceInstance | undefined): ServiceInstance | undefined {
    return instance !== undefined && this.#service.isListed(instance) ? instance : undefined
  }

  #instanceTags(instance: ServiceInstance | undefined): Tags {
    const { serviceId } = this.#service
    const nobody = instance === undefined ? UNKNOWN : OTHER
    const listed = this.#listed(instance)
    return {
      serviceId,
      'serviceInstance.instanceId': listed?.instanceId ?? nobody,
      'serviceInstance.host': listed === undefined ? nobody : listed.host || UNKNOWN,
      'serviceInstance.port': listed === undefined ? nobody : String(listed.port),
    }
  }

  #callTags({ method = UNKNOWN, url }: PickRequest): Tags {
    const isTold = url !== undefined && this.#options.includePath !== false
    return { method, uri: isTold ? pathOf(String(url)) : UNKNOWN }
  }

  /** The user's tags; SCLB's of the same name win. */
  #ownTags({ serviceId, instance, response }: Pick<CompleteEvent, 'serviceId' | 'instance' | 'response'>): Tags {
    const { tags } = this.#options
    if (tags === undefined) return {}
    const event = {
      serviceId,
      ...(instance !== undefined && { instance }),
      ...(response !== undefined && { response }),
    }
    const given = guarded(tags, 'metrics.tags', () => this.#scope.run(() => tags(event)))
    return guarded(tags, 'metrics.tags', () => textsOf(given ?? {})) ?? {}
  }
}

function textsOf(tags: Readonly<Record<string, unknown>>): Tags {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, String(value)]))
}

function time(series: Series, ms: number): void {
  series.count++
  series.totalMs += ms
  series.maxMs = Math.max(series.maxMs, ms)
}

const OUTCOMES = [UNKNOWN, 'INFORMATIONAL', 'SUCCESS', 'REDIRECTION', 'CLIENT_ERROR', 'SERVER_ERROR']

function answerTags(response: Response | undefined): Tags {
  if (response === undefined) return { outcome: UNKNOWN, status: UNKNOWN }
  const { status } = response
  return { outcome: OUTCOMES[Math.floor(status / 100)] ?? UNKNOWN, status: String(status) }
}

/** The error's class. Bundlers rename classes, so the name that it gives itself comes first. */
function nameOf(error: unknown): string {
  if (error === undefined || error === null) return 'None'
  const { name, constructor: Class } = error as { name?: unknown; constructor?: { name?: string } }
  if (typeof name === 'string' && name !== '' && name !== 'Error') return name
  return Class?.name || 'Error'
}

function countsOf(name: MeterSeries['name'], set: SeriesSet): MeterSeries[] {
  return Array.from(set.values(), ({ tags, count }) => ({ name, tags, count }))
}

function timesOf(name: MeterSeries['name'], set: SeriesSet): MeterSeries[] {
  return Array.from(set.values(), ({ tags, count, totalMs, maxMs }) => ({ name, tags, count, totalMs, maxMs }))
}
