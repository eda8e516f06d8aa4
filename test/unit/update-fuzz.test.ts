import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createLoadBalancer, type InstanceInit, type ServiceInstance } from '../../bindings/index.js'

interface Entry {
  id: number
  port: number
  weight: number
  form: 'text' | 'url' | 'host' | 'id'
}

function written({ id, port, weight, form }: Entry): InstanceInit {
  if (form === 'text') return `http://h${id}:${port}`
  if (form === 'url') return { url: `http://h${id}:${port}`, ...(weight > 0 && { weight }) }
  if (form === 'host') return { host: `h${id}`, port, scheme: 'http', metadata: { weight: String(weight) } }
  return { instanceId: `i${id}`, host: `h${id}`, port, zone: `z${weight}` }
}

/** What the entry comes to, by the words of the contract. */
function meant({ id, port, weight, form }: Entry) {
  const metadata: Record<string, string> =
    form === 'text'
      ? {}
      : form === 'id'
        ? { zone: `z${weight}` }
        : form === 'host' || weight > 0
          ? { weight: String(weight) }
          : {}
  return {
    instanceId: form === 'id' ? `i${id}` : `h${id}:${port}`,
    host: `h${id}`,
    port,
    secure: false,
    metadata,
    ...(form !== 'id' && { scheme: 'http' }),
  }
}

const entry = fc.record<Entry>({
  id: fc.integer({ min: 0, max: 7 }),
  port: fc.integer({ min: 1, max: 2 }),
  weight: fc.integer({ min: 0, max: 2 }),
  form: fc.constantFrom('text', 'url', 'host', 'id'),
})
const list = fc.uniqueArray(entry, { selector: (each) => meant(each).instanceId, maxLength: 8 })
/** Mostly the list before, with a change here and there. */
const edit = fc.record({ keep: fc.double({ min: 0, max: 1, noNaN: true }), other: list, shuffle: fc.boolean() })

const key = (instance: { instanceId: string; host: string; port: number }) =>
  `${instance.instanceId}|${instance.host}|${instance.port}`

it('after any sequence of updates, list, changes and counts are what they should be', () => {
  fc.assert(
    fc.property(list, fc.array(edit, { maxLength: 12 }), (first, edits) => {
      const lb = createLoadBalancer({ seed: 1, clock: () => 0, services: { s: { instances: first.map(written) } } })
      const service = lb.service('s')
      const counts = new Map<string, number>()
      let current = first
      let before: readonly ServiceInstance[] = service.instances()
      for (const { keep, other, shuffle } of edits) {
        for (let i = 0; i < 3; i++) {
          const lease = service.pick()
          lease?.done()
          if (lease !== undefined) counts.set(key(lease.instance), (counts.get(key(lease.instance)) ?? 0) + 1)
        }
        const kept = current.filter((_, i) => (i + 1) / current.length <= keep || i % 3 === 0)
        const ids = new Set(kept.map((each) => meant(each).instanceId))
        current = [...kept, ...other.filter((each) => !ids.has(meant(each).instanceId))].slice(0, 8)
        if (shuffle) current.reverse()
        const change = service.update(current.map(written))
        const now = service.instances()
        expect(now.map(({ serviceId, ...rest }) => rest)).toEqual(current.map(meant))
        const old = new Map(before.map((instance) => [key(instance), instance]))
        const fresh = new Set(now.map(key))
        expect(change.added).toEqual(expect.arrayContaining(now.filter((each) => !old.has(key(each)))))
        expect(change.added).toHaveLength(now.filter((each) => !old.has(key(each))).length)
        expect(new Set(change.removed.map(key))).toEqual(new Set(before.map(key).filter((each) => !fresh.has(each))))
        const differing = now.filter(
          (each) =>
            old.has(key(each)) && JSON.stringify(old.get(key(each))?.metadata) !== JSON.stringify(each.metadata),
        )
        expect(new Set(change.changed.map(key))).toEqual(new Set(differing.map(key)))
        for (const instance of now) {
          const was = old.get(key(instance))
          if (was !== undefined && !change.changed.includes(instance)) expect(instance).toBe(was)
        }
        for (const gone of change.removed) counts.delete(key(gone))
        expect(service.stats().instances.map(({ picks }) => picks)).toEqual(
          now.map((each) => counts.get(key(each)) ?? 0),
        )
        before = now
      }
      void lb.close()
    }),
    { seed: 20260105, numRuns: 500 },
  )
})
