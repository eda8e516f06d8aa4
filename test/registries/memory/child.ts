/**
 * @module A process of its own in which one workload is measured, so that nothing else is in its heap:
 * `node --expose-gc child.js <workload>` prints what it found as JSON.
 */

import { VirtualTime } from '../virtual-time.js'
import { noiseOf, slopeOf } from './slope.js'
import { TRIALS, WORKLOADS } from './workloads.js'

/** Until what is made once has been made. */
const WARM_UP = 960
/** A sample leaves traces of its own at first. */
const FIRST_SAMPLES = 12
const WINDOWS = 8
const OPERATIONS = 250
const COLLECT_AFTER = 40

const { gc } = globalThis as unknown as { gc: () => void }
const realTimeout = setTimeout

/** Of what can be reached. Finalizers run after a collection and leave something for the next. */
async function bytesInUse(): Promise<number> {
  for (let turn = 0; turn < 2; turn++) {
    gc()
    await new Promise((resolve) => realTimeout(resolve, 0))
  }
  gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const name = process.argv[2] ?? ''
const make = WORKLOADS[name] ?? TRIALS[name]
if (make === undefined) throw new Error(`there is no workload "${name}"`)
const time = new VirtualTime()
time.install()
const work = await make(time)
const run = async (times: number) => {
  for (let i = 0; i < times; i++) {
    await work()
    // Weak tables grow with what is dead but still there, and stay so large.
    if (i % COLLECT_AFTER === 0) gc()
  }
}
const samples = new Array<number>(WINDOWS + 1).fill(0)
for (let i = 0; i < FIRST_SAMPLES; i++) {
  await run(WARM_UP / FIRST_SAMPLES)
  await bytesInUse()
}
for (let window = 0; window <= WINDOWS; window++) {
  if (window > 0) await run(OPERATIONS)
  time.forgetCleared()
  samples[window] = await bytesInUse()
}
const slope = slopeOf(samples, OPERATIONS)
const noise = noiseOf(samples, OPERATIONS, slope)
console.log(JSON.stringify({ slope, noise, operations: WINDOWS * OPERATIONS, samples }))
process.exit()
