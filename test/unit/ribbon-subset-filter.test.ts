/** The published Ribbon's ServerListSubsetFilter, refresh by refresh, with its own draws and the order of its sets. */

import { describe, expect, it } from 'vitest'
import { serverListSubset } from '../../bindings/index.js'
import { nextSubset } from '../../bindings/supplier/server-list-subset.js'
import file from '../vectors/ribbon-subset-filter.json' with { type: 'json' }
import { JavaHashSet } from './java-hash-set.js'

interface Refresh {
  readonly pool: readonly number[]
  readonly active?: readonly number[]
  readonly failures?: readonly number[]
  readonly subset: readonly number[]
  readonly draws: readonly (readonly [below: number, drawn: number])[]
}

interface Vector {
  readonly id: string
  readonly properties: Readonly<Record<string, number | boolean | string>>
  readonly size: number
  readonly steps: readonly Refresh[]
}

const vectors = file.vectors as unknown as readonly Vector[]
const idOf = (place: number) => `i${place}:8080`
const placeOf = (id: string) => Number(/^i(\d+):/.exec(id)?.[1])

describe('the subset after each refresh', () => {
  it.each(vectors)('$id', ({ properties, steps }) => {
    const read = (key: string) => properties[`svc.ribbon.ServerListSubsetFilter.${key}`] as number | undefined
    const options = {
      size: read('size') ?? 20,
      forceEliminatePercent: read('forceEliminatePercent') ?? 0.1,
      failureThreshold: read('eliminationFailureThresold') ?? 0,
      connectionThreshold: read('eliminationConnectionThresold') ?? 0,
    }
    expect(() => serverListSubset(options)).not.toThrow()
    let members = new JavaHashSet([])
    for (const { pool, active, failures, subset, draws } of steps) {
      // Ribbon's next set is made of the one before: in its order, but with room for so many.
      const current = new JavaHashSet(members)
      const left = [...draws]
      const next = nextSubset(new Set(current), [...new JavaHashSet(pool.map(idOf))], {
        ...options,
        biased: true,
        loadOf: (id) => ({ active: active?.[placeOf(id)] ?? 0, failures: failures?.[placeOf(id)] ?? 0 }),
        draw() {
          const [below, drawn] = left.shift() as [number, number]
          return (drawn + 0.5) / below
        },
      })
      expect([...next.members].map(placeOf).sort((a, b) => a - b)).toEqual(subset)
      expect(left).toEqual([])
      for (const id of [...current]) if (!next.members.has(id)) current.delete(id)
      for (const id of next.members) current.add(id)
      members = current
    }
  })
})
