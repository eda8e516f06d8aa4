/** @module SCLB's RetryAwareServiceInstanceListSupplier as the outermost of a chain. */

import { expect } from 'chai'
import { type PickRequest, roundRobin, type ServiceInstance } from 'evenkeel'
import file from '../../vectors/sclb-retry-aware.json'
import { chainOf } from './chains.js'
import { candidates, named, pick, replayed, tagged, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface Step {
  previous?: string
  rev?: string
  cookie?: string
  candidates?: number[]
  pick: number | null
}

interface RetryAwareVector extends Vector {
  suppliers: string[]
  ids: string[]
  rev?: string[]
  start: number
  steps: Step[]
}

function requestOf({ previous, rev, cookie }: Step): PickRequest {
  return {
    ...(previous !== undefined && { previous: [instanceOf(previous, rev)] }),
    ...(cookie !== undefined && { cookies: { 'sc-lb-instance-id': cookie } }),
  }
}

function instanceOf(id: string, rev: string | undefined): ServiceInstance {
  const metadata: Record<string, string> = rev === undefined ? {} : { rev }
  return { instanceId: id, serviceId: 'svc', host: id, port: 8080, secure: false, metadata }
}

export const cases = replayed<RetryAwareVector>(file, ({ suppliers, ids, rev = [], start, steps }) => {
  const instances = named(ids, tagged('rev', rev))
  const options = { ...chainOf(suppliers, undefined), instances, policy: roundRobin({ start }) }
  return withService(options, async (service) => {
    for (const [i, step] of steps.entries()) {
      const request = requestOf(step)
      if (step.candidates !== undefined) {
        expect(await candidates(service, request), `step ${i}`).to.deep.equal(step.candidates)
      }
      expect(pick(service, request), `step ${i}`).to.equal(step.pick)
    }
  })
})
