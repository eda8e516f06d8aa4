/** @module SCLB's chains of suppliers in any order. */

import { expect } from 'chai'
import { type PickRequest, roundRobin, type Service, type ServiceInstance } from 'evenkeel'
import file from '../../vectors/sclb-chain.json'
import { chainOf } from './chains.js'
import { pick, placed, replayed, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface Step {
  hint?: string
  cookie?: string
  previous?: number
  pick: number | null
}

interface ChainVector extends Vector {
  suppliers: string[]
  zone?: string
  subset?: { instanceId: string; size: number }
  callGet?: boolean
  metadata: Record<string, string>[]
  start: number
  steps: Step[]
}

function requestOf({ hint, cookie, previous }: Step, service: Service): PickRequest {
  return {
    ...(hint !== undefined && { headers: { 'X-SC-LB-Hint': hint } }),
    ...(cookie !== undefined && { cookies: { 'sc-lb-instance-id': cookie } }),
    ...(previous !== undefined && { previous: [service.instances()[previous] as ServiceInstance] }),
  }
}

export const cases = replayed<ChainVector>(file, ({ suppliers, zone, subset, callGet, metadata, start, steps }) =>
  withService(
    {
      ...chainOf(suppliers, subset),
      ...(callGet !== undefined && { callGetWithRequestOnDelegates: callGet }),
      instances: placed(metadata),
      policy: roundRobin({ start }),
    },
    (service) => {
      const picked = steps.map((step) => pick(service, requestOf(step, service)))
      expect(picked).to.deep.equal(steps.map((step) => step.pick))
    },
    zone === undefined ? {} : { zone },
  ),
)
