/** @module SCLB's SameInstancePreferenceServiceInstanceListSupplier over lists that change. */

import { expect } from 'chai'
import { type InstanceInit, roundRobin } from 'evenkeel'
import file from '../../vectors/sclb-same-instance.json'
import { pick, replayed, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface SameInstanceVector extends Vector {
  start: number
  steps: { list?: string[]; pick: number | null }[]
}

/** `b`, `b@2` with metadata, `b:81` with another port. */
function written(text: string): InstanceInit {
  const [, id = '', rev, port] = /^(\w+)(?:@(\w+))?(?::(\d+))?$/.exec(text) ?? []
  return { instanceId: id, host: id, port: Number(port ?? 8080), metadata: rev === undefined ? {} : { rev } }
}

export const cases = replayed<SameInstanceVector>(file, ({ start, steps }) => {
  const suppliers = ['same-instance-preference']
  return withService({ instances: [], suppliers, policy: roundRobin({ start }) }, (service) => {
    const picked = steps.map(({ list }) => {
      if (list !== undefined) service.update(list.map(written))
      return pick(service)
    })
    expect(picked).to.deep.equal(steps.map((step) => step.pick))
  })
})
