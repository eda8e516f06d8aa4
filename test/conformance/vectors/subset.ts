/** @module SCLB's SubsetServiceInstanceListSupplier; what names the client comes from a Spring file. */

import { expect } from 'chai'
import { type ServiceOptions, subset as subsetSupplier } from 'evenkeel'
import { fromSpring } from 'evenkeel/spring'
import file from '../../vectors/sclb-subset.json'
import { candidates, expectRefusal, placed, replayed, springText, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface SubsetVector extends Vector {
  instanceId: string
  size?: number
  count: number
  environment?: Record<string, string>
  subset?: number[]
  error?: string
}

/** Who the client is stands in a Spring file, where it has an environment to be told from. */
function chainOf({ id, instanceId, size, environment }: SubsetVector): [ServiceOptions, { instanceId?: string }] {
  if (!id.startsWith('subset/environment')) {
    return [{ suppliers: [subsetSupplier({ instanceId, ...(size !== undefined && { size }) })] }, {}]
  }
  const own = { configurations: 'subset', 'subset.instance-id': instanceId, 'subset.size': size ?? 100 }
  const { options } = fromSpring(springText(environment ?? {}, '') + springText(own), { format: 'properties' })
  const { instanceId: fromFile, defaults = {} } = options
  return [defaults, fromFile === undefined ? {} : { instanceId: fromFile }]
}

export const cases = replayed<SubsetVector>(file, async (vector) => {
  const replay = async () => {
    let kept: number[] = []
    const [options, balancer] = chainOf(vector)
    const instances = placed(new Array(vector.count).fill({}))
    await withService({ ...options, instances }, async (service) => void (kept = await candidates(service)), balancer)
    return kept
  }
  if (vector.error !== undefined) return expectRefusal(replay)
  expect(await replay()).to.deep.equal(vector.subset)
})
