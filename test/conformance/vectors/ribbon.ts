/** @module What replays of Ribbon's vectors share: its services, whose health checks find down whom a vector says. */

import { expect } from 'chai'
import { createLoadBalancer, type InstanceInit, type Lease, type Policy, type Service } from 'evenkeel'
import type { Case } from '../case.js'
import { casesOf } from './replay.js'
import { exceptionOf } from './ribbon-without-counterpart.js'

const START_MS = 1_000_000

export interface RibbonVector {
  readonly id: string
}

/** One step of a trace; test/vectors/README.md tells which there are. */
export type Step = readonly [kind: string, ...given: unknown[]]

export function replayedRibbon<V extends RibbonVector>(
  file: { readonly vectors: readonly { readonly id: string }[] },
  check: (vector: V) => void | Promise<void>,
): Case[] {
  return casesOf(
    'Ribbon',
    (file.vectors as unknown as readonly V[]).filter((vector) => exceptionOf(vector) === undefined),
    check,
  )
}

/** The service `svc` of a balancer that is Ribbon's in everything, over so many servers or one in each zone. */
export class Ribbon {
  readonly #servers: readonly InstanceInit[]
  readonly #lb: ReturnType<typeof createLoadBalancer>
  readonly #service: Service
  readonly #leases: { place: number; lease: Lease }[] = []
  #down: ReadonlySet<number> = new Set()
  #nowMs = START_MS

  constructor(policy: Policy, servers: number | readonly (string | null)[]) {
    const zones = typeof servers === 'number' ? new Array<null>(servers).fill(null) : servers
    this.#servers = zones.map((zone, place) => ({
      instanceId: `i${place}`,
      host: `i${place}`,
      port: 8080,
      metadata: zone === null ? {} : { zone },
    }))
    this.#lb = createLoadBalancer({
      compat: 'ribbon',
      seed: 1,
      clock: () => this.#nowMs,
      fetch: async (input) => new Response(null, { status: this.#down.has(placeOf(String(input))) ? 503 : 200 }),
      services: { svc: { instances: this.#servers, policy, healthCheck: { repeat: false } } },
    })
    this.#service = this.#lb.service('svc')
  }

  async list(places: readonly number[], down: readonly number[] = [...this.#down]): Promise<void> {
    this.#down = new Set(down)
    this.#service.update(places.map((place) => this.#servers[place] as InstanceInit))
    await this.#service.check()
  }

  async down(places: readonly number[]): Promise<void> {
    this.#down = new Set(places)
    await this.#service.check()
  }

  /** The place of who is picked, to whom a request begins; null: nobody is. */
  pick(): number | null {
    const lease = this.#service.pick()
    if (lease === undefined) return null
    const place = placeOf(lease.instance.host)
    this.#leases.push({ place, lease })
    return place
  }

  end(kind: string, place: number, latencyMs: number): void {
    const at = this.#leases.findIndex((one) => one.place === place)
    const { lease } = this.#leases[at] as { lease: Lease }
    this.#leases.splice(at, 1)
    if (kind === 'ok') lease.done({ status: 200, latencyMs })
    else if (kind === 'trip') lease.done({ error: refusal(), latencyMs })
    else if (kind === 'fail') lease.done({ error: new Error('unreadable'), latencyMs })
    else lease.done({ cancelled: true, latencyMs })
  }

  /** Takes the steps; fails at the first pick that is another than Ribbon's. */
  async trace(steps: readonly Step[]): Promise<void> {
    await this.#service.check()
    for (const [index, [kind, given, ms]] of steps.entries()) {
      if (kind === 'pick') expect(this.pick(), `step ${index}`).to.equal(given)
      else if (kind === 'wait') this.#nowMs += given as number
      else if (kind === 'down') await this.down(given as number[])
      else if (kind === 'list') await this.list(given as number[])
      else this.end(kind, given as number, ms as number)
    }
  }

  async close(): Promise<void> {
    for (const { lease } of this.#leases) lease.done()
    await this.#lb.close()
  }
}

/** Of an instance by its host, or by a URL with it. */
export const placeOf = (text: string) => Number(/i(\d+)/.exec(text)?.[1])

/** The places of those whom a rotation over a list of that length finds, ascending. */
export function pickedOf(service: Service, length: number): number[] {
  const places = new Set<number>()
  for (let i = 0; i < length; i++) {
    const lease = service.pick()
    if (lease !== undefined) places.add(placeOf(lease.instance.host))
    lease?.done({ cancelled: true })
  }
  return [...places].sort()
}

const refusal = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
