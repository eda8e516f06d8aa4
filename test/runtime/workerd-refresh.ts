/**
 * @module On Workers a promise belongs to the request that made it. These cases overlap requests with a refresh that
 * another request began and did not finish: all of them must get answers. Real Worker, real registry over HTTP.
 */
import { type ClientRequest, get } from 'node:http'
import { expect } from 'chai'
import type { Backends } from '../conformance/case.js'
import type { Registry } from './registry.js'

export interface RefreshCase {
  name: string
  run(drive: Driver): Promise<void>
}

const TOGETHER = 5
/** A claim on a refresh lasts a second; this is time for two, on a busy machine. */
const PATIENCE_MS = 8_000

/** Talks to the Worker of one case, about a service of that case. */
export class Driver {
  readonly registry: Registry
  readonly serviceId: string
  readonly backends: Backends
  readonly #worker: string
  #hellos = 0

  constructor(worker: string, registry: Registry, backends: Backends, serviceId: string) {
    this.#worker = worker
    this.registry = registry
    this.backends = backends
    this.serviceId = serviceId
    registry.put(serviceId, [backends.a])
  }

  /** The Worker's answer as status and text. */
  async ask(action: string, search: Record<string, string> = {}): Promise<string> {
    const response = await fetch(this.#urlOf(action, search), { signal: AbortSignal.timeout(PATIENCE_MS) })
    return `${response.status} ${await response.text()}`
  }

  /** A request by a client that will not stay for the answer. */
  begin(action: string, search: Record<string, string> = {}): ClientRequest {
    return get(this.#urlOf(action, search)).on('error', () => {})
  }

  /** Several requests at once; ends when the Worker has begun with all of them. */
  async askTogether(search: Record<string, string> = {}): Promise<Promise<string[]>[]> {
    const asked: Promise<string>[] = []
    const begun: Promise<void>[] = []
    for (let i = 0; i < TOGETHER; i++) {
      const hello = `${this.serviceId}-${++this.#hellos}`
      begun.push(this.registry.untilHello(hello))
      asked.push(this.ask(i % 2 === 0 ? 'choose' : 'fetch', { ...search, hello }))
    }
    const answers = Promise.all(asked)
    answers.catch(() => {})
    await Promise.race([Promise.all(begun), answers])
    // In a list, or awaiting this would await the answers too.
    return [answers]
  }

  #urlOf(action: string, search: Record<string, string>): string {
    return `${this.#worker}/${action}/${this.serviceId}?${new URLSearchParams(search)}`
  }

  get answersOfA(): string[] {
    const { host } = new URL(this.backends.a)
    return Array.from({ length: TOGETHER }, (_, i) => (i % 2 === 0 ? `200 ${host}` : '200 a'))
  }
}

/** Others join a request that is waiting for a list which the registry withholds. */
async function join(
  drive: Driver,
  first: () => unknown,
  search: Record<string, string> = {},
): Promise<() => Promise<string[]>> {
  const { registry, serviceId } = drive
  registry.hold(serviceId, true)
  const before = registry.asked(serviceId)
  first()
  await registry.untilAsked(serviceId, before + 1)
  const [others] = (await drive.askTogether(search)) as [Promise<string[]>]
  return () => others
}

/** Resets the connection; ends when workerd has cancelled the request, and with it its own one to the registry. */
async function reset({ registry, serviceId }: Driver, request: ClientRequest | undefined, times = 1): Promise<void> {
  request?.socket?.resetAndDestroy()
  await registry.untilGone(serviceId, times)
}

export const refreshCases: RefreshCase[] = [
  {
    name: 'refresh on Workers: requests that join one which goes on to the end ask no more than it',
    async run(drive) {
      let first: Promise<string> | undefined
      const others = await join(drive, () => {
        first = drive.ask('choose')
      })
      drive.registry.hold(drive.serviceId, false)
      drive.registry.release(drive.serviceId)
      expect(await first).to.equal(drive.answersOfA[0])
      expect(await others()).to.deep.equal(drive.answersOfA)
      expect(drive.registry.asked(drive.serviceId)).to.be.at.most(2)
    },
  },
  {
    name: 'refresh on Workers: begun by a request that ended at once',
    async run(drive) {
      drive.registry.hold(drive.serviceId, true)
      expect(await drive.ask('pick')).to.equal('200 no instance')
      drive.registry.hold(drive.serviceId, false)
      const [others] = (await drive.askTogether()) as [Promise<string[]>]
      expect(await others).to.deep.equal(drive.answersOfA)
    },
  },
  ...['fresh', 'none'].flatMap((cache): RefreshCase[] => [
    {
      name: `refresh on Workers, cache ${cache}: begun by a request that its client aborted`,
      async run(drive) {
        let leaving: ClientRequest | undefined
        const others = await join(
          drive,
          () => {
            leaving = drive.begin('choose', { cache })
          },
          { cache },
        )
        // workerd takes this for a client that has sent all it had: the request goes on, for nobody.
        leaving?.destroy()
        drive.registry.hold(drive.serviceId, false)
        expect(await others()).to.deep.equal(drive.answersOfA)
        expect(await drive.ask('choose', { cache })).to.equal(drive.answersOfA[0])
      },
    },
    {
      name: `refresh on Workers, cache ${cache}: begun by a request that was cancelled`,
      async run(drive) {
        let leaving: ClientRequest | undefined
        const others = await join(
          drive,
          () => {
            leaving = drive.begin('choose', { cache })
          },
          { cache },
        )
        await reset(drive, leaving)
        drive.registry.hold(drive.serviceId, false)
        expect(await others()).to.deep.equal(drive.answersOfA)
        expect(await drive.ask('choose', { cache })).to.equal(drive.answersOfA[0])
      },
    },
  ]),
  {
    name: 'refresh on Workers: begun by a request that timed out',
    async run(drive) {
      let first: Promise<string> | undefined
      const others = await join(drive, () => {
        first = drive.ask('choose', { timeoutMs: '100' })
      })
      expect(await first).to.match(/^500 EVENKEEL_TIMEOUT /)
      drive.registry.hold(drive.serviceId, false)
      expect(await others()).to.deep.equal(drive.answersOfA)
    },
  },
  {
    name: 'refresh on Workers: one after the other is cancelled, the last is answered',
    async run(drive) {
      const { registry, serviceId } = drive
      registry.hold(serviceId, true)
      for (let i = 1; i <= 2; i++) {
        const leaving = drive.begin('choose')
        await registry.untilAsked(serviceId, i)
        await reset(drive, leaving, i)
      }
      registry.hold(serviceId, false)
      expect(await drive.ask('choose')).to.equal(drive.answersOfA[0])
    },
  },
  {
    name: 'refresh on Workers: a stale list is served at once, and renewed by a request with waitUntil',
    async run(drive) {
      const { registry, serviceId, backends } = drive
      const stale = { cache: 'stale' }
      expect(await drive.ask('fetch', stale)).to.equal('200 a')
      registry.put(serviceId, [backends.b])
      registry.hold(serviceId, true)
      expect(await drive.ask('fetch', stale)).to.equal('200 a')
      const [others] = (await drive.askTogether(stale)) as [Promise<string[]>]
      expect(await others).to.deep.equal(drive.answersOfA)
      registry.hold(serviceId, false)
      // The claim of the refresh that died with its request has to run out first.
      const end = Date.now() + PATIENCE_MS
      let answer = ''
      while (answer !== '200 b' && Date.now() < end) {
        answer = await drive.ask('fetch', { ...stale, until: '' })
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      expect(answer).to.equal('200 b')
    },
  },
  {
    name: 'refresh on Workers: a service can be removed by another request than the one that asks for its list',
    async run(drive) {
      let first: Promise<string> | undefined
      const others = await join(drive, () => {
        first = drive.ask('choose')
      })
      expect(await drive.ask('remove')).to.equal('200 removed')
      for (const answer of await others()) expect(answer).to.match(/^500 EVENKEEL_CLOSED /)
      // Nobody may end the asking of another request: that one hears of it when its registry has answered.
      drive.registry.release(drive.serviceId)
      expect(await first).to.match(/^500 EVENKEEL_CLOSED /)
      drive.registry.hold(drive.serviceId, false)
      expect(await drive.ask('choose')).to.equal(drive.answersOfA[0])
    },
  },
  {
    name: 'refresh on Workers: a service can be removed while others wait for a request that was cancelled',
    async run(drive) {
      let leaving: ClientRequest | undefined
      const others = await join(drive, () => {
        leaving = drive.begin('choose')
      })
      await reset(drive, leaving)
      expect(await drive.ask('remove')).to.equal('200 removed')
      for (const answer of await others()) expect(answer).to.match(/^500 EVENKEEL_CLOSED /)
      expect(drive.registry.asked(drive.serviceId)).to.equal(1)
    },
  },
  {
    name: 'refresh on Workers: a service can be removed after the request that asked for its list was cancelled',
    async run(drive) {
      let leaving: ClientRequest | undefined
      const others = await join(drive, () => {
        leaving = drive.begin('choose')
      })
      await reset(drive, leaving)
      drive.registry.hold(drive.serviceId, false)
      await others()
      expect(await drive.ask('remove')).to.equal('200 removed')
      expect(await drive.ask('choose')).to.equal(drive.answersOfA[0])
    },
  },
]
