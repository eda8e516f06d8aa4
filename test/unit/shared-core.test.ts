import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { LIST_ROWS } from '../../assembly/layout.js'
import { toInstance } from '../../bindings/instance.js'
import { Members } from '../../bindings/service/members.js'
import { sharedCore, sharedMemory } from './cores.js'

it('threads that share a memory share the rotation: no turn is lost or taken twice', async () => {
  const [length, threads, picks] = [7, 3, 70_000]
  const memory = sharedMemory()
  const core = sharedCore(memory)
  const members = new Members(core)
  members.adopt(Array.from({ length }, (_, i) => toInstance({ host: 'h', port: i }, 's', 's')))
  const list = core.exports.createList(length)
  for (let i = 0; i < length; i++) core.i32[((list + LIST_ROWS) >>> 2) + i] = i
  core.exports.startAt(members.block, -1)
  const workers = Array.from({ length: threads }, () => {
    const workerData = { memory, block: members.block, list, length, picks }
    return new Worker(new URL('./shared-worker.mjs', import.meta.url), { workerData })
  })
  const counts = (await Promise.all(workers.map((worker) => once(worker, 'message')))).map(([each]) => each as number[])
  const total = Array.from({ length }, (_, i) => counts.reduce((sum, each) => sum + (each[i] as number), 0))
  expect(total).toEqual(new Array(length).fill((threads * picks) / length))
  // Each thread left every second pick in flight.
  const inFlight = Array.from({ length }, (_, row) => members.inFlightAt(row)).reduce((sum, each) => sum + each)
  expect(inFlight).toBe((threads * picks) / 2)
  await Promise.all(workers.map((worker) => worker.terminate()))
})
