/** @module What registries answer about 10 000 instances of one service, of which 1 % are others in each generation. */

import { scattered } from './scattered.js'

const INSTANCES = 10_000
export const GENERATIONS = 8

const generations = Array.from({ length: GENERATIONS }, (_, generation) => generation)
const isMoving = (i: number) => scattered(i, 100) === 0
const hostOf = (i: number, generation: number) => `${isMoving(i) ? 100 + generation : 10}.0.${i >> 8}.${i & 255}`
const all = Array.from({ length: INSTANCES }, (_, i) => i)

/** As the parts that all registries share are given them, in the order of ids. */
export const LIST_TEXTS = generations.map((generation) =>
  JSON.stringify(
    all
      .map((i) => {
        const host = hostOf(i, generation)
        return { instanceId: `stock:${host}:8080`, host, port: 8080, secure: false, metadata: { zone: 'shanghai' } }
      })
      .toSorted((a, b) => (a.instanceId < b.instanceId ? -1 : 1)),
  ),
)

/** `/v1/health/service/bench` */
export const CONSUL_TEXTS = generations.map((generation) =>
  JSON.stringify(
    all.map((i) => {
      const host = hostOf(i, generation)
      return {
        Node: { Node: `node-${i & 255}`, Address: host, Datacenter: 'dc1', Meta: {} },
        Service: {
          ID: `stock:${host}:8080`,
          Service: 'bench',
          Tags: [],
          Address: host,
          Port: 8080,
          Meta: { zone: 'a' },
        },
        Checks: [{ CheckID: 'serfHealth', Status: 'passing' }],
      }
    }),
  ),
)

/** `/apps/delta` */
export const EUREKA_TEXTS = generations.map((generation) =>
  JSON.stringify(
    eureka(
      all.filter(isMoving).map((i) => ({ ...eurekaInstance(i, generation), actionType: 'MODIFIED' })),
      generation,
    ),
  ),
)

function eureka(instance: unknown, generation: number) {
  const application = [{ name: 'BENCH', instance }]
  return {
    applications: { versions__delta: String(generation), apps__hashcode: `UP_${INSTANCES}_`, application },
  }
}

function eurekaInstance(i: number, generation: number) {
  const host = hostOf(i, generation)
  return {
    instanceId: `stock-${i}`,
    hostName: host,
    app: 'BENCH',
    ipAddr: host,
    status: 'UP',
    overriddenStatus: 'UNKNOWN',
    port: { $: 8080, '@enabled': 'true' },
    securePort: { $: 443, '@enabled': 'false' },
    dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
    metadata: { zone: 'a' },
    vipAddress: 'bench',
  }
}

export function answerOf(text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, { headers: { 'content-type': 'application/json', ...headers } })
}

/** Says everything at once, and what has changed when it is told to. */
export class EurekaServer {
  #generation = 0
  #answer: ((response: Response) => void) | undefined
  readonly #waiting: (() => void)[] = []

  readonly fetch = async (input: string | URL | Request): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input)
    if (!url.includes('/delta'))
      return answerOf(
        JSON.stringify(
          eureka(
            all.map((i) => eurekaInstance(i, 7)),
            7,
          ),
        ),
      )
    return new Promise((resolve) => {
      this.#answer = resolve
      for (const wake of this.#waiting.splice(0)) wake()
    })
  }

  /** Resolves when a question waits for `answer`. */
  async asked(): Promise<void> {
    if (this.#answer !== undefined) return
    // The client's own timers keep no process alive.
    const hold = setInterval(() => {}, 1_000)
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
    })
    clearInterval(hold)
  }

  answer(): void {
    const answer = this.#answer
    this.#answer = undefined
    answer?.(answerOf(EUREKA_TEXTS[this.#generation++ % GENERATIONS] as string))
  }
}
