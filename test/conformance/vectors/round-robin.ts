/** @module SCLB's RoundRobinLoadBalancer over lists that change their length. */

import { expect } from 'chai'
import { roundRobin } from 'evenkeel'
import file from '../../vectors/sclb-round-robin.json'
import { named, pick, replayed, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface RoundRobinVector extends Vector {
  start: number
  sizes: number[]
  picks: (number | null)[]
}

const sized = (size: number) => named(Array.from({ length: size }, (_, place) => `i${place}`))

export const cases = replayed<RoundRobinVector>(file, ({ start, sizes, picks }) =>
  withService({ instances: [], policy: roundRobin({ start }) }, (service) => {
    const picked = sizes.map((size) => {
      service.update(sized(size))
      return pick(service)
    })
    expect(picked).to.deep.equal(picks)
  }),
)
