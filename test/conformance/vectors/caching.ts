/** @module SCLB's CachingServiceInstanceListSupplier over Caffeine: what is served when, and how often discovery is asked. */

import { expect } from 'chai'
import type { InstanceInit, Policy } from 'evenkeel'
import file from '../../vectors/sclb-caching.json'
import { named, replayed, springOptions, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface Step {
  at: number
  gets?: number
  list?: string[] | null
  served?: string[]
  error?: string
  fetches: number
}

interface CachingVector extends Vector {
  ttlMs: number
  spec?: string
  steps: Step[]
}

export const cases = replayed<CachingVector>(file, ({ ttlMs, spec, steps }) => {
  const { service: options, defaults } = springOptions({
    'cache.ttl': ttlMs,
    ...(spec !== undefined && { 'cache.caffeine.spec': spec }),
  })
  const { instances: _, ...own } = options
  let now = 0
  let list: InstanceInit[] | null = []
  let fetches = 0
  const discovery = async () => {
    fetches++
    if (list === null) throw new Error('discovery fails')
    return list
  }
  let offered: string[] = []
  const policy: Policy = {
    name: 'remembers what it is offered',
    pick(candidates) {
      offered = Array.from({ length: candidates.length }, (_, i) => candidates.instance(i).instanceId)
      return 0
    },
  }
  return withService(
    { ...own, discovery, policy },
    async (service) => {
      for (const [i, step] of steps.entries()) {
        now = step.at
        if (step.list !== undefined) list = step.list && named(step.list)
        const served = Array.from({ length: step.gets ?? 1 }, async () => {
          offered = []
          const lease = await service.choose()
          lease?.done()
          return lease === undefined ? [] : offered
        })
        // A reader whose list could not be fetched has nobody, as one whose list is empty.
        expect(await served[0], `step ${i}`).to.deep.equal(step.served ?? [])
        await Promise.all(served)
        expect(fetches, `fetches at step ${i}`).to.equal(step.fetches)
      }
    },
    { defaults, clock: () => now },
  )
})
