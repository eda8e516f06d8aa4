/** @module Builders for these tests: a balancer over a scripted transport and a clock of its own, and short looks at it. */

import {
  createLoadBalancer,
  type DiscoveryClient,
  type FetchLike,
  type InstanceInit,
  type Lifecycle,
  type LoadBalancer,
  type LoadBalancerOptions,
  type PickRequest,
  roundRobin,
  type Service,
  type ServiceInstance,
  type ServiceOptions,
} from '../../bindings/index.js'
import { fromSpring } from '../../bindings/spring/index.js'

/** `a` is { instanceId: 'a', host: 'a', port: 8080 }: an instance without a scheme of its own, as Spring's. */
export function hosts(...names: string[]): InstanceInit[] {
  return names.map((name) => ({ instanceId: name, host: name, port: 8080 }))
}

/** Instances by name, each with its metadata. */
export function tagged(all: Record<string, Record<string, string>>): InstanceInit[] {
  return Object.entries(all).map(([name, metadata]) => ({ instanceId: name, host: name, port: 8080, metadata }))
}

/** What a call through the transport gets: a status, an error that is thrown, or whatever is made. */
export type Answer = number | Error | ((request: Sent) => Response | Promise<Response>)

export interface Sent {
  readonly url: string
  readonly host: string
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal | undefined
}

/** Answers in turn, the last one for ever; keeps what was sent. */
export function scripted(...answers: Answer[]) {
  const sent: Sent[] = []
  const transport: FetchLike = async (input, init) => {
    const request = input instanceof Request ? input : undefined
    const url = request?.url ?? String(input)
    const headers = new Headers(request?.headers)
    new Headers(init?.headers).forEach((value, name) => {
      headers.set(name, value)
    })
    const made: Sent = {
      url,
      host: /^\w+:\/\/([^/?#:]*)/.exec(url)?.[1] ?? '',
      method: init?.method ?? request?.method ?? 'GET',
      headers,
      signal: init?.signal ?? request?.signal,
    }
    sent.push(made)
    const answer = answers[Math.min(sent.length, answers.length) - 1] ?? 200
    if (answer instanceof Error) throw answer
    return typeof answer === 'number' ? new Response(`status ${answer}`, { status: answer }) : answer(made)
  }
  return { sent, transport, reached: () => sent.map(({ host }) => host).join('') }
}

/** A service `s` with round robin from its first instance. */
export function make(
  options: ServiceOptions,
  balancer: Omit<LoadBalancerOptions, 'services'> = {},
  ...answers: Answer[]
) {
  const time = { now: 0 }
  const { sent, transport, reached } = scripted(...answers)
  const lb: LoadBalancer = createLoadBalancer({
    seed: 7,
    clock: () => time.now,
    fetch: transport,
    ...balancer,
    services: { s: { policy: roundRobin({ start: -1 }), ...options } },
  })
  return { lb, service: lb.service('s'), time, sent, reached }
}

/** As `make`, with the options of Spring properties (without their common prefix). */
export function makeSpring(
  properties: Record<string, string>,
  options: ServiceOptions,
  balancer: Omit<LoadBalancerOptions, 'services'> = {},
  ...answers: Answer[]
) {
  const { zone, instanceId, defaults, services } = spring(properties).options
  const of = { ...(zone && { zone }), ...(instanceId && { instanceId }), ...(defaults && { defaults }) }
  return make({ ...services?.s, ...options }, { ...of, ...balancer }, ...answers)
}

export function spring(properties: Record<string, string>, environment: Record<string, string> = {}) {
  const text = Object.entries(properties).map(([key, value]) => `spring.cloud.loadbalancer.${key}=${value}`)
  return fromSpring(text.join('\n'), { format: 'properties', environment })
}

/** What is given to users as `fetch failed`, with the code as its cause. */
export function failure(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
}

/** The hosts of that many picks, each completed at once; `-` where there was no instance. */
export function picks(service: Service, count: number, request?: PickRequest): string {
  return Array.from({ length: count }, () => {
    const lease = service.pick(request)
    lease?.done()
    return lease?.instance.host ?? '-'
  }).join('')
}

export async function candidates(service: Service, request?: PickRequest): Promise<string> {
  return hostsOf((await service.explain(request)).candidates)
}

export async function layers(service: Service, request?: PickRequest): Promise<string[]> {
  return (await service.explain(request)).layers.map(({ name }) => name)
}

export function hostsOf(list: readonly ServiceInstance[]): string {
  return list.map(({ host }) => host).join('')
}

export function instance(service: Service, name: string): ServiceInstance {
  const found = service.instances().find(({ instanceId }) => instanceId === name)
  if (found === undefined) throw new Error(`no instance ${name}`)
  return found
}

type Moment = keyof Lifecycle
type EventOf<M extends Moment> = Parameters<NonNullable<Lifecycle[M]>>[0]

/** An observer that keeps what it is told. */
export function observer() {
  const order: string[] = []
  const events = {
    onStart: [] as EventOf<'onStart'>[],
    onStartRequest: [] as EventOf<'onStartRequest'>[],
    onComplete: [] as EventOf<'onComplete'>[],
  }
  const lifecycle: Required<Lifecycle> = {
    onStart: (event) => void (order.push('onStart'), events.onStart.push(event)),
    onStartRequest: (event) => void (order.push('onStartRequest'), events.onStartRequest.push(event)),
    onComplete: (event) => void (order.push(event.status), events.onComplete.push(event)),
  }
  return { ...events, order, lifecycle }
}

/** A registry of one's own: says what it is told to say, counts how often it was asked. */
export function registry(says: InstanceInit[] | Error, rest: Partial<DiscoveryClient> = {}) {
  const client = {
    name: 'registry',
    asked: 0,
    says,
    async get(): Promise<InstanceInit[]> {
      client.asked++
      if (client.says instanceof Error) throw client.says
      return client.says
    },
    ...rest,
  }
  return client
}

/** What a promise was rejected with. */
export async function errorOf(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  return promise.then(
    () => {
      throw new Error('should have failed')
    },
    (error) => error,
  )
}

/** What was begun and waits for no timer has ended. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
