/** @module `lb.fetch` next to plain `fetch`, to the same server on loopback in another process, over the same sockets. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createLoadBalancer } from 'evenkeel'
import { middle, ratio } from '../harness/median.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { us } from '../harness/text.js'

/** Long enough for each to pay for its own garbage. */
const REQUESTS = 250
const AT_ONCE = 16
const PATH = '/stock/42?region=cn%2Dsh'
const HEADERS = { accept: 'application/json', 'x-request-id': '7d1f' }

/** The least share of plain fetch's throughput, by input. */
const INPUTS: Record<string, { readonly leastPercent: number; of(url: string): [string | Request, RequestInit?] }> = {
  string: { leastPercent: 97, of: (url) => [url, { headers: HEADERS }] },
  Request: { leastPercent: 85, of: (url) => [new Request(url, { headers: HEADERS })] },
}

export const fetchThroughput: Suite = {
  cases: Object.keys(INPUTS).map((name) => ({ name })),
  effort: { rounds: 80, calls: 1, warmUpMs: 600 },
  async measure(input, effort) {
    const argumentsOf = INPUTS[input]?.of
    if (argumentsOf === undefined) throw new Error(`there is no case "${input}"`)
    const server = fork(new URL('../programs/loopback-server.ts', import.meta.url), { execArgv: process.execArgv })
    try {
      const [port] = await once(server, 'message')
      const origin = `http://127.0.0.1:${port}`
      const lb = createLoadBalancer({ services: { stock: [origin] } })
      const contestants = [
        sends('fetch', () => fetch(...argumentsOf(origin + PATH))),
        sends('lb.fetch', () => lb.fetch(...argumentsOf(`http://stock${PATH}`))),
        // The same once more: how far from 100 % it comes out is how little the other figure means.
        sends('fetch again', () => fetch(...argumentsOf(origin + PATH))),
      ]
      return { timings: await inRounds(contestants, effort) }
    } finally {
      server.disconnect()
    }
  },
  judge: (found) => Object.entries(INPUTS).map(([input, { leastPercent }]) => throughput(found, input, leastPercent)),
}

function sends(name: string, send: () => Promise<Response>): Contestant {
  return {
    name,
    ops: REQUESTS,
    async run() {
      let left = REQUESTS
      let bytes = 0
      const oneAfterTheOther = async () => {
        while (left-- > 0) {
          const response = await send()
          const body = await response.arrayBuffer()
          bytes += body.byteLength
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, oneAfterTheOther))
      return bytes
    },
  }
}

function throughput(found: Found, input: string, leastPercent: number): Judgement {
  const { timings } = caseOf(found, input)
  const percent = 100 * ratio(timings, 'fetch', 'lb.fetch')
  const control = 100 * ratio(timings, 'fetch', 'fetch again')
  const each = `${us(middle(timings, 'lb.fetch'))} against ${us(middle(timings, 'fetch'))} a request`
  return {
    what: `lb.fetch(${input}) against fetch, loopback, throughput`,
    budget: `≥ ${leastPercent} %`,
    measured: `${percent.toFixed(1)} % (${each}; fetch against itself ${control.toFixed(1)} %)`,
    met: percent >= leastPercent,
  }
}
