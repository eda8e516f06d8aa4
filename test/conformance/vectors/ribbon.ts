/** @module What replays of Ribbon's vectors share: its services, whose health checks find down whom a vector says. */

import { expect } from 'chai'
import {
  createLoadBalancer,
  type InstanceInit,
  type Lease,
  type Policy,
  type Service,
  type ServiceOptions,
  type ServiceStats,
  type Supplier,
} from 'evenkeel'
import { fromSpring } from 'evenkeel/spring'
import type { Case } from '../case.js'
import { casesOf, springText } from './replay.js'
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

const optionsByText = new Map<string, ServiceOptions>()

/** What a file with these properties of Ribbon's has for its client `svc`. */
export function ribbonOptions(properties: Readonly<Record<string, string | number | boolean>>): ServiceOptions {
  const text = springText({ 'svc.ribbon.listOfServers': 'unused', ...properties }, '')
  const known = optionsByText.get(text)
  if (known !== undefined) return known
  const { defaults, services } = fromSpring(text, { format: 'properties' }).options
  const options = { ...defaults, ...services?.svc }
  optionsByText.set(text, options)
  return options
}

/** By the request's hint: who alone is asked. Outermost, so that a request reaches whom a vector names. */
const named: Supplier = {
  name: 'named',
  memoKey: ({ hint }) => hint,
  filter: (list, { hint }) => (hint === undefined ? list : list.filter(({ instanceId }) => instanceId === hint)),
}

/** Beside the policy. With them requests can be begun at whom one names. */
export interface RibbonService extends Omit<ServiceOptions, 'instances' | 'policy' | 'healthCheck'> {
  /** The balancer's. */
  zone?: string
  /** Whether somebody may be down: then all are looked at whenever the list is another. Default false. */
  checks?: boolean
}

/** The service `svc` of a balancer that is Ribbon's in everything, over so many servers or one in each zone. */
export class Ribbon {
  readonly #lb: ReturnType<typeof createLoadBalancer>
  readonly #service: Service
  readonly #checks: boolean
  readonly #leases: { place: number; lease: Lease }[] = []
  #servers: readonly InstanceInit[]
  #down: ReadonlySet<number> = new Set()
  #nowMs = START_MS

  constructor(policy: Policy, servers: number | readonly (string | null)[], given?: RibbonService) {
    this.#servers = serversIn(typeof servers === 'number' ? new Array<null>(servers).fill(null) : servers)
    const { zone, suppliers = [], checks = given === undefined, ...options } = given ?? {}
    this.#checks = checks
    this.#lb = createLoadBalancer({
      compat: 'ribbon',
      seed: 1,
      clock: () => this.#nowMs,
      fetch: async (input) => new Response(null, { status: this.#down.has(placeOf(String(input))) ? 503 : 200 }),
      ...(zone !== undefined && { zone }),
      services: {
        svc: {
          ...options,
          ...(given !== undefined && { suppliers: [...suppliers, named] }),
          instances: this.#servers,
          policy,
          ...(checks && { healthCheck: { repeat: false } }),
        },
      },
    })
    this.#service = this.#lb.service('svc')
  }

  /** The same servers, each in its zone now. */
  async zones(zones: readonly (string | null)[]): Promise<void> {
    this.#servers = serversIn(zones)
    await this.list([...zones.keys()])
  }

  async list(places: readonly number[], down: readonly number[] = [...this.#down]): Promise<void> {
    this.#down = new Set(down)
    this.#service.update(places.map((place) => this.#servers[place] as InstanceInit))
    if (this.#checks) await this.#service.check()
  }

  async down(places: readonly number[]): Promise<void> {
    this.#down = new Set(places)
    await this.#service.check()
  }

  wait(ms: number): void {
    this.#nowMs += ms
  }

  stats(): ServiceStats {
    return this.#service.stats()
  }

  /** The places of those whom the policy would get. */
  async candidates(): Promise<number[]> {
    return (await this.#service.explain()).candidates.map(({ host }) => placeOf(host))
  }

  /** So many requests that end with a failed connection, then so many that stay in flight. */
  load(place: number, active: number, failures: number): void {
    for (let i = 0; i < failures; i++) {
      this.begin(place)
      this.end('trip', place, 1)
    }
    for (let i = 0; i < active; i++) this.begin(place)
  }

  /** A request to that one begins. */
  begin(place: number): void {
    expect(this.pick(`i${place}`)).to.equal(place)
  }

  /** The place of who is picked, to whom a request begins; null: nobody is. */
  pick(hint?: string): number | null {
    const lease = this.#service.pick(hint === undefined ? {} : { hint })
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
      else if (kind === 'wait') this.wait(given as number)
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

function serversIn(zones: readonly (string | null)[]): InstanceInit[] {
  return zones.map((zone, place) => ({
    instanceId: `i${place}`,
    host: `i${place}`,
    port: 8080,
    metadata: zone === null ? {} : { zone },
  }))
}

const refusal = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
