/** @module A service whose list comes from the registry, and waits for what its list is to be. */

import { createLoadBalancer, type DiscoveryClient, type LoadBalancer, type Service } from '../../../bindings/index.js'
import type { ServiceOptions } from '../../../bindings/types/options.js'

/** A registry that has lost its memory says "none" when it is back: that is not believed while it fills again. */
const PROTECT_MS = 120_000

/**
 * Time in which this process stood still, as on a machine that has too much to do, is not the registry's: a limit counts
 * no more than twice this from one look to the next.
 */
const LOOK_MS = 20

export interface Told {
  error: unknown
  /** Of the list that is served meanwhile; NaN: there is none. */
  servedAgeMs: number
}

export class Caller implements AsyncDisposable {
  readonly service: Service
  readonly told: Told[] = []
  readonly #balancer: LoadBalancer<string>
  readonly #wakes = new Set<() => void>()

  constructor(discovery: DiscoveryClient, serviceId: string, options: ServiceOptions = {}) {
    this.#balancer = createLoadBalancer({
      services: {
        [serviceId]: { discovery, eager: true, retry: false, emptyList: { protectMs: PROTECT_MS }, ...options },
      },
    }) as LoadBalancer<string>
    this.service = this.#balancer.service(serviceId)
    this.service.on('change', () => this.#wake())
    this.service.on('discoveryError', (told) => {
      this.told.push(told)
      this.#wake()
    })
  }

  /** `host:port` of who is listed, sorted. */
  get addresses(): string[] {
    return this.service
      .instances()
      .map(({ host, port }) => `${host}:${port}`)
      .sort()
  }

  /** Resolves to how long it took until who is listed is who is meant. */
  lists(expected: readonly { address: string }[], withinMs: number): Promise<number> {
    const wanted = expected
      .map(({ address }) => address)
      .sort()
      .join(' ')
    return this.#until(
      () => this.addresses.join(' ') === wanted,
      withinMs,
      () => {
        return `the list is [${this.addresses.join(' ')}], not [${wanted}]`
      },
    )
  }

  /** Resolves when `count` failures more have been told. */
  failures(count: number, withinMs: number): Promise<number> {
    const least = this.told.length + count
    return this.#until(
      () => this.told.length >= least,
      withinMs,
      () => {
        return `${this.told.length - least + count} failures were told, not ${count}`
      },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#balancer.close()
  }

  #until(holds: () => boolean, withinMs: number, complaint: () => string): Promise<number> {
    const beganAt = performance.now()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#wakes.delete(look)
        clearInterval(deadline)
        settle()
      }
      const look = () => {
        if (holds()) end(() => resolve(performance.now() - beganAt))
      }
      let [hadMs, lookedAt] = [0, beganAt]
      const deadline = setInterval(() => {
        const now = performance.now()
        hadMs += Math.min(now - lookedAt, 2 * LOOK_MS)
        lookedAt = now
        if (hadMs >= withinMs) end(() => reject(new Error(`after ${withinMs} ms ${complaint()}`)))
      }, LOOK_MS)
      this.#wakes.add(look)
      look()
    })
  }

  #wake(): void {
    for (const look of [...this.#wakes]) look()
  }
}
