/** @module Who hears of a service's calls: the observers of the balancer, in their order, and the service's meters. */

import type { Quirks } from '../compat/quirks.js'
import { guarded } from '../report.js'
import type { AsyncScope } from '../runtime/async-scope.js'
import type { Lifecycle } from '../types/extension.js'
import type { MetricsOptions } from '../types/options.js'
import type { PickRequest } from '../types/request.js'
import { AttemptWatch } from './attempt-watch.js'
import type { Mean } from './mean.js'
import { type MeteredService, Meters } from './meters.js'

type Listener<M extends keyof Lifecycle> = NonNullable<Lifecycle[M]>
export type StartEvent = Parameters<Listener<'onStart'>>[0]
export type StartRequestEvent = Parameters<Listener<'onStartRequest'>>[0]
export type CompleteEvent = Parameters<Listener<'onComplete'>>[0]

/** What observers need of their service. */
export interface ObservedService extends MeteredService {
  readonly clock: () => number
  /** How long selections took, in ms. */
  readonly selections: Mean
  readonly settings: { readonly quirks: Quirks; readonly metrics: MetricsOptions | undefined }
}

/** What they take from its balancer. */
export interface ObserverHost {
  readonly observers: readonly Lifecycle[]
  /** Entered while an observer runs. */
  readonly observing: AsyncScope
}

/** Undefined: there is nobody to tell, and calls need not even look at the clock for it. */
export function observersOf(service: ObservedService, host: ObserverHost): Observers | undefined {
  const { metrics } = service.settings
  if (host.observers.length === 0 && metrics === undefined) return undefined
  const meters = metrics === undefined ? undefined : new Meters(service, metrics, host.observing)
  return new Observers(service, host, meters)
}

export class Observers {
  readonly service: ObservedService
  readonly meters: Meters | undefined
  readonly #observers: readonly Lifecycle[]
  readonly #scope: AsyncScope

  constructor(service: ObservedService, { observers, observing }: ObserverHost, meters: Meters | undefined) {
    this.service = service
    this.#observers = observers
    this.meters = meters
    this.#scope = observing
  }

  /** False for a call that an observer makes: it is neither told nor metered, else it would never end. */
  get listening(): boolean {
    return !this.#scope.entered
  }

  /** An attempt whose instance is about to be selected. */
  selecting(request: PickRequest, attempt: number): AttemptWatch {
    if (this.#observers.length > 0) this.#tell('onStart', { serviceId: this.service.serviceId, request, attempt })
    return new AttemptWatch(this, request, attempt)
  }

  /** An attempt at an instance that is known already: SCLB's `execute` with an instance, or once more the same one. */
  given(request: PickRequest, attempt: number): AttemptWatch {
    return new AttemptWatch(this, request, attempt)
  }

  started(event: StartRequestEvent): void {
    if (this.#observers.length > 0) this.#tell('onStartRequest', event)
  }

  completed(event: CompleteEvent): void {
    if (this.#observers.length > 0) this.#tell('onComplete', event)
  }

  #tell<M extends keyof Lifecycle>(moment: M, event: Parameters<Listener<M>>[0]): void {
    this.#scope.run(() => {
      for (const observer of this.#observers) {
        guarded(observer, `lifecycle observer's ${moment}`, () => {
          // A union of the three listeners takes none of their events; this one is its own.
          const listener = observer[moment] as ((event: Parameters<Listener<M>>[0]) => unknown) | undefined
          return listener?.call(observer, event)
        })
      }
    })
  }
}
