/** @module One copy of the registry for all services that are watched, kept up as long as any is. */

import type { WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import type { ListKeeper } from '../registry/list-keeper.js'
import { pause } from '../registry/pause.js'
import { askedPauseMs } from '../registry/watch-loop.js'
import { listOf } from './list-of.js'
import type { EurekaSettings } from './options.js'
import { Pace } from './pace.js'
import { RegistryCopy } from './registry-copy.js'
import type { EurekaServers } from './servers.js'
import { Subscription } from './subscription.js'

/** From the first watcher to the last. */
interface Run {
  readonly copy: RegistryCopy
  readonly stop: AbortController
  /** Of the last round, unless it went well. */
  lastError: unknown
}

export class SharedRegistry {
  readonly #servers: EurekaServers
  readonly #settings: EurekaSettings
  readonly #subscriptions = new Set<Subscription>()
  #run: Run | undefined

  constructor(servers: EurekaServers, settings: EurekaSettings) {
    this.#servers = servers
    this.#settings = settings
  }

  describe(): Record<string, string> {
    return this.#run?.copy.describe() ?? {}
  }

  async *watch(
    serviceId: string,
    keeper: ListKeeper,
    options: WatchOptions,
  ): AsyncGenerator<readonly InstanceInit[], void> {
    const subscription = new Subscription(serviceId.toUpperCase(), keeper, options)
    this.#subscriptions.add(subscription)
    try {
      this.#join(subscription)
      yield* subscription.lists(options.signal)
    } finally {
      this.#subscriptions.delete(subscription)
      if (this.#subscriptions.size === 0) {
        this.#run?.stop.abort()
        this.#run = undefined
      }
    }
  }

  /** Whoever watches that service was given another answer meanwhile: what the copy says is to be said again. */
  renew(serviceId: string): void {
    const name = serviceId.toUpperCase()
    for (const subscription of this.#subscriptions) if (subscription.name === name) subscription.isDue = true
  }

  #join(subscription: Subscription): void {
    const run = this.#run
    if (run === undefined) {
      this.#run = {
        copy: new RegistryCopy(this.#servers, this.#settings),
        stop: new AbortController(),
        lastError: undefined,
      }
      void this.#live(this.#run)
      return
    }
    if (run.copy.isLoaded && this.#isKnown(run, subscription)) this.#offer(run.copy, subscription)
    if (run.lastError !== undefined) subscription.fail(run.lastError)
  }

  /** Never rejects. */
  async #live(run: Run): Promise<void> {
    const { copy } = run
    const { signal } = run.stop
    const pace = new Pace(this.#settings.intervalMs, this.#settings.random)
    while (!signal.aborted) {
      try {
        await copy.refresh(signal)
        run.lastError = undefined
      } catch (error) {
        run.lastError = error
      }
      if (signal.aborted) return
      // Changes may have come before the failure.
      if (copy.isLoaded) this.#publish(run)
      if (run.lastError !== undefined) this.#fail(run.lastError)
      const { lastError } = run
      const waitMs =
        lastError === undefined ? pace.afterAnswer() : Math.max(pace.afterFailure(lastError), askedPauseMs(lastError))
      await pause(waitMs, signal)
    }
  }

  #publish(run: Run): void {
    const { copy, lastError } = run
    const touched = copy.index.takeTouched()
    for (const subscription of [...this.#subscriptions]) {
      const isTouched = touched.has(subscription.name)
      if (isTouched || (subscription.isDue && this.#isKnown(run, subscription))) this.#offer(copy, subscription)
      else if (lastError === undefined) subscription.options.confirmed?.()
    }
  }

  /** In an outage a service that the copy does not have may be there by now: "nobody" is not known then. */
  #isKnown({ copy, lastError }: Run, { name }: Subscription): boolean {
    return lastError === undefined || copy.index.has(name)
  }

  #offer({ index }: RegistryCopy, subscription: Subscription): void {
    try {
      subscription.offer(listOf(index.named(subscription.name), this.#settings.onlyUp, subscription.keeper))
    } catch (error) {
      // The others' lists are as good as before.
      subscription.isDue = true
      subscription.fail(error)
    }
  }

  #fail(error: unknown): void {
    for (const subscription of [...this.#subscriptions]) subscription.fail(error)
  }
}
