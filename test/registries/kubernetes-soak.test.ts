/** @module Ten minutes of a busy cluster in virtual time. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer } from '../../bindings/index.js'
import { idsOf, pod, setup, slice } from './kubernetes-setup.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A change is listed after this. */
const BOUND_MS = 1_000
/** After an outage: what the backoff has reached, at most 1.5 × 30 s, and the bound. */
const RECOVERY_MS = 46_000

function seeded(seed: number) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('ten minutes', () => {
  for (const seed of [1, 2]) {
    it(`of changes, ends, compactions and outages (seed ${seed})`, async () => {
      const random = seeded(seed)
      const { fake, client } = setup({ random, limit: 2 }, { endpointsPerSlice: 4, opaque: true })
      const lb = createLoadBalancer({ seed, services: { orders: { discovery: client } } })
      const service = lb.service('orders')
      const any = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
      let made = 0
      const add = () => {
        const id = `p${++made}`
        // Addresses come back, as in a cluster.
        const last = made % 200
        if (fake.history.all('default').some((each) => JSON.stringify(each).includes(`"10.1.0.${last}"`))) return
        fake.add('orders', pod(id, last, { secure: false, ...(random() < 0.1 && { port: 8081 }) }))
      }
      const everybody = () => [
        ...new Set(
          fake.history.all('default').flatMap((each) => each.endpoints.map((one) => String(one.targetRef?.uid))),
        ),
      ]
      const doSomething = () => {
        const id = everybody().length === 0 ? undefined : any(everybody())
        const chance = random()
        if (id === undefined || chance < 0.4) add()
        else if (chance < 0.65) fake.remove('orders', id)
        else if (chance < 0.75) fake.change('orders', id, { ready: false, serving: true, terminating: true })
        else if (chance < 0.85) fake.change('orders', id, { ready: random() < 0.5, serving: true, terminating: false })
        else move(id)
      }
      const move = (id: string) => {
        const from = fake.history.all('default').find((each) => each.endpoints.some((one) => one.targetRef?.uid === id))
        const one = from?.endpoints.find((each) => each.targetRef?.uid === id)
        if (from === undefined || one === undefined) return
        fake.put({ ...slice(`moved-${id}`, [one]), ports: from.ports })
      }
      const doubled: unknown[] = []
      service.on('change', () => {
        const now = service.instances()
        const names = [now.map(({ instanceId }) => instanceId), now.map(({ host, port }) => `${host}:${port}`)]
        if (names.some((each) => new Set(each).size < now.length)) doubled.push(names)
      })
      const check = () => {
        expect(idsOf(service.instances())).toEqual(fake.listed('orders'))
        for (let i = 0; i < 5; i++) {
          const lease = service.pick()
          lease?.done()
          if (lease !== undefined) expect(fake.listed('orders')).toContain(lease.instance.instanceId)
        }
      }
      for (let i = 0; i < 10; i++) add()
      await service.choose()
      const endsAt = Date.now() + 600_000
      let calmSince = Date.now()
      const seen = { changes: 0, disturbances: 0, outages: 0 }
      while (Date.now() < endsAt) {
        await pass(random() * 4_000)
        const isCalm = Date.now() - calmSince > 12_000
        const chance = isCalm ? random() : 1
        if (chance < 0.05) {
          seen.outages++
          fake.down()
          for (let i = 0; i < 5; i++) doSomething()
          await pass(random() * 20_000)
          fake.up()
          await pass(RECOVERY_MS)
          calmSince = Date.now()
        } else if (chance < 0.25) {
          seen.disturbances++
          fake.goneAs = random() < 0.5 ? 'event' : 'status'
          // Compacted while nobody watches: the watch that follows is too old.
          if (random() < 0.5) fake.compact()
          if (random() < 0.5) fake.endWatches()
          else fake.cutWatches()
          doSomething()
          // Until the next watch, until the list anew, and the bound.
          await pass(800 + 800 + BOUND_MS)
          calmSince = Date.now()
        } else {
          seen.changes++
          for (let i = Math.ceil(random() * 5); i > 0; i--) doSomething()
          await pass(BOUND_MS)
        }
        check()
      }
      expect(seen.changes).toBeGreaterThan(50)
      expect(seen.disturbances).toBeGreaterThan(3)
      expect(doubled).toEqual([])
      await lb.close()
      expect(fake.watches).toBe(0)
    })
  }
})
