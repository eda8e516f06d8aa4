/** @module What the registries' clients leave behind in memory: nothing, and how it is known. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noiseOf, slopeOf } from './memory/slope.js'
import { TRIALS, WORKLOADS } from './memory/workloads.js'
import { MemoryMeter } from './memory.js'

let meter: MemoryMeter
beforeAll(async () => {
  meter = await MemoryMeter.make()
})
afterAll(() => meter.close())

describe('a slope', () => {
  const line = Array.from({ length: 12 }, (_, i) => 5_000_000 + 2 * 150 * i)

  it('is that of the line, also where a quarter of the samples is off it', () => {
    expect(slopeOf(line, 150)).toBe(2)
    const some = line.map((sample, i) => (i % 5 === 0 ? sample + 300_000 * (i - 4) : sample))
    expect(slopeOf(some, 150)).toBeCloseTo(2, 6)
  })

  it('comes with how far samples are off, mostly', () => {
    expect(noiseOf(line, 150, 2)).toBe(0)
    const some = line.map((sample, i) => sample + (i % 2) * 100)
    expect(noiseOf(some, 150, 2)).toBe(50)
  })
})

describe.concurrent('the measurement', () => {
  it.each(Object.keys(TRIALS))('sees what an operation leaves: one that %s', async (trial) => {
    const left = Number(/\d+/.exec(trial)?.[0] ?? 0)
    const { slope, noise, operations } = await meter.growthOf(trial)
    expect(slope).toBeGreaterThan(left - 0.25)
    expect(slope).toBeLessThan(left + 0.5)
    // A byte of each operation is far more than chance.
    expect(operations / noise).toBeGreaterThan(3)
  })
})

describe.concurrent('less than a byte is left of', () => {
  it.each(Object.keys(WORKLOADS))('%s', async (workload) => {
    const growth = await meter.growthOf(workload)
    expect(growth.slope, JSON.stringify(growth)).toBeLessThan(1)
    if (process.env.SHOW) console.log(workload, growth.slope, growth.noise)
  })
})
