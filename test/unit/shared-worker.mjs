// A thread that picks by turns from a list in the memory it is given, and tells how often it picked whom.
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

const { memory, block, list, length, picks } = workerData
const file = readFileSync(new URL('../../build/core.shared.wasm', import.meta.url))
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(file), { env: { memory } })
const counts = new Array(length).fill(0)
for (let i = 0; i < picks; i++) {
  const row = exports.leaseRoundRobin(block, list)
  counts[row]++
  if (i % 2 === 0) exports.complete(block, row, 0)
}
parentPort.postMessage(counts)
