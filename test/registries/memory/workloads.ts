/** @module What is done again and again to see what it leaves behind: refreshes of each registry's client. */

import { dnsDiscovery } from '../../../bindings/discovery/dns/index.js'
import { kubernetesDiscovery } from '../../../bindings/discovery/kubernetes/index.js'
import { nacosDiscovery } from '../../../bindings/discovery/nacos/index.js'
import type { DiscoveryClient } from '../../../bindings/index.js'
import { CONSTANT_SETUPS, type Settings, type SetupName } from '../constant-registries.js'
import { seeded } from '../seeded.js'
import type { VirtualTime } from '../virtual-time.js'

/** One operation. */
export type Workload = () => void | Promise<void>

export type WorkloadMaker = (time: VirtualTime) => Promise<Workload>

/** Longer than any limit, so that no timer of an operation is left when the next begins. */
const BETWEEN_MS = 7_000

function settingsIn(time: VirtualTime, fetch: Settings['fetch']): Settings {
  return { random: seeded(1), clock: () => time.nowMs, fetch }
}

/** Each operation is a list with a change, as a watch brings it. */
function watched(name: SetupName): WorkloadMaker {
  return async (time) => {
    const { registry, intervalMs, change, client } = CONSTANT_SETUPS[name]()
    const { signal } = new AbortController()
    let lists = 0
    void (async () => {
      const failed = (error: unknown) => {
        throw error
      }
      const watch = client(settingsIn(time, registry.fetch)).watch?.('orders', { signal, failed })
      for await (const _ of watch ?? []) lists++
    })()
    await time.pass(2_000)
    return async () => {
      const before = lists
      change()
      await time.pass(intervalMs === undefined ? 1_000 : 1.1 * intervalMs)
      if (lists === before) throw new Error(`${name}: a change was not listed`)
    }
  }
}

/** Each operation is a question, whose answer has changed. */
function asked(client: DiscoveryClient, time: VirtualTime, change = () => {}, betweenMs = BETWEEN_MS): Workload {
  const { signal } = new AbortController()
  return async () => {
    change()
    await client.get?.('orders', { signal })
    await time.pass(betweenMs)
  }
}

function questioned(name: SetupName): WorkloadMaker {
  return async (time) => {
    const { registry, change, client } = CONSTANT_SETUPS[name]()
    return asked(client(settingsIn(time, registry.fetch)), time, change)
  }
}

const NAMES = Object.keys(CONSTANT_SETUPS) as SetupName[]

export const WORKLOADS: Readonly<Record<string, WorkloadMaker>> = {
  ...Object.fromEntries(NAMES.map((name) => [`${name}: a change that a watch brings`, watched(name)])),
  ...Object.fromEntries(NAMES.map((name) => [`${name}: a question`, questioned(name)])),
  /** Each has a secret that no error may tell, and that is not to be kept for ever. */
  async 'kubernetes: a question with a new token'(time) {
    const { registry } = CONSTANT_SETUPS.kubernetes()
    let tokens = 0
    const token = () => `${++tokens}`.padEnd(200, 'x')
    return asked(
      kubernetesDiscovery({ url: 'http://kubernetes:8001', token, ...settingsIn(time, registry.fetch) }),
      time,
    )
  },
  /** A token of a minute, each time another one. */
  async 'nacos: a question with a new login'(time) {
    const { registry, change } = CONSTANT_SETUPS.nacos()
    const login = { username: 'u', password: 'p' }
    return asked(
      nacosDiscovery({ url: 'http://nacos', ...login, ...settingsIn(time, registry.fetch) }),
      time,
      change,
      70_000,
    )
  },
  /** Names come and go. */
  async 'dns: a question with new targets'(time) {
    let turn = 0
    const resolver = async (name: string) => {
      if (name !== 'orders') return [{ address: `10.0.${turn % 250}.1`, ttl: 1 }]
      turn++
      return [{ target: `n${turn % 97}.lan`, port: 80, priority: 0, weight: turn % 7 }]
    }
    const options = { record: 'SRV', resolver, resolveTargets: true, clock: () => time.nowMs } as const
    return asked(dnsDiscovery(options), time)
  },
}

/** What a measurement is tried on: nothing is left of the first, and little of the others. */
export const TRIALS: Readonly<Record<string, WorkloadMaker>> = {
  async 'leaves nothing'(time) {
    return questionedThen(time, () => {})
  },
  /** An object of 32 bytes of every 16th operation: 2 bytes. */
  async 'leaves 2 bytes'(time) {
    let kept: object | undefined
    let operations = 0
    return questionedThen(time, () => {
      if (++operations % 16 === 0) kept = { kept }
    })
  },
  /** Outside the heap. */
  async 'leaves 4 bytes of buffers'(time) {
    const kept: Uint8Array[] = []
    let operations = 0
    return questionedThen(time, () => {
      if (++operations % 256 === 0) kept.push(new Uint8Array(900))
    })
  },
}

async function questionedThen(time: VirtualTime, work: () => void): Promise<Workload> {
  const question = await questioned('consul')(time)
  return async () => {
    await question()
    work()
  }
}
