/** @module The run without arguments: the same load on the same backends under each policy, then one explanation. */

import { attemptsOf, type LoadBalancer, type ServiceOptions } from 'evenkeel'
import { aligned } from './aligned.js'
import { type Backend, behaviourOf, PLANS, startBackends, stopBackends } from './backends.js'
import { explanationText } from './explanation-text.js'
import { inventoryOver, RESOURCE, SERVICE, ZONE } from './inventory.js'
import { sendAll } from './load.js'
import { noticeOf } from './notice.js'
import { plural, seconds } from './numbers.js'
import { lineOf, Problem } from './problem.js'
import { showProgress } from './progress.js'
import { checkSums, type Row, rowsOf } from './rows.js'
import { tableOf } from './table.js'
import { bold, print } from './terminal.js'

const REQUESTS = 600
const CONCURRENCY = 12

const RUNS: readonly { title: string; options: ServiceOptions }[] = [
  { title: 'round-robin', options: { policy: 'round-robin' } },
  { title: 'weighted round-robin', options: { policy: 'round-robin', suppliers: ['weighted'] } },
  { title: 'random', options: { policy: 'random' } },
  { title: 'least-request', options: { policy: 'least-request' } },
  { title: 'peak-ewma', options: { policy: 'peak-ewma' } },
]

export async function comparePolicies(): Promise<void> {
  const backends = await startBackends(PLANS)
  try {
    print(`${plural(backends.length, 'HTTP backend')} on 127.0.0.1:\n`)
    print(aligned(PLANS.map((plan) => [plan.instanceId, behaviourOf(plan)])))
    print(`\nUnder each policy ${plural(REQUESTS, 'request')} through lb.fetch, ${CONCURRENCY} at a time.`)
    await warmUp(backends)
    for (const { title, options } of RUNS) {
      const startedAt = performance.now()
      const rows = await measure(title, options, backends)
      print(`\n${bold(title)} (${seconds(performance.now() - startedAt)})`)
      print(tableOf(rows))
      print(noticeOf(rows))
    }
    await explainOne(backends)
  } finally {
    await stopBackends(backends)
  }
}

/** Opens the connections and lets the engine compile, so that the first policy is not measured by that. */
async function warmUp(backends: readonly Backend[]): Promise<void> {
  const call = async ({ plan, url }: Backend) => {
    try {
      await (await fetch(url)).arrayBuffer()
    } catch (error) {
      throw new Problem(`can't reach ${plan.instanceId} at ${url}: ${lineOf(error)}`, 1)
    }
  }
  await Promise.all(backends.flatMap((backend) => Array.from({ length: CONCURRENCY }, () => call(backend))))
}

/** @throws Problem if a request failed that should not have, or if client and backends counted differently */
async function measure(title: string, options: ServiceOptions, backends: readonly Backend[]): Promise<Row[]> {
  const lb = inventoryOver(backends, options)
  for (const backend of backends) backend.forget()
  const progress = showProgress(title, REQUESTS)
  try {
    await sendAll(REQUESTS, CONCURRENCY, () => sendOne(lb), progress.advance)
    checkSums(lb, SERVICE, REQUESTS)
    const rows = rowsOf(lb, SERVICE)
    for (const { instanceId, picks } of rows) {
      const hits = backends.find(({ plan }) => plan.instanceId === instanceId)?.hits
      if (picks !== hits) throw new Problem(`${instanceId} was picked ${picks} times, but saw ${hits} requests`, 1)
    }
    return rows
  } catch (error) {
    throw new Problem(`under ${title}: ${lineOf(error)}`, 1)
  } finally {
    progress.stop()
    await lb.close()
  }
}

/** @throws Problem for anything but a 200, or a 503 from the backend that gives nothing else */
async function sendOne(lb: LoadBalancer): Promise<void> {
  const response = await lb.fetch(RESOURCE)
  await response.arrayBuffer()
  const instanceId = attemptsOf(response).at(-1)?.instance.instanceId
  const expected = PLANS.find((plan) => plan.instanceId === instanceId)?.status
  if (response.status !== expected) throw new Problem(`${instanceId} answered ${response.status}, not ${expected}`, 1)
}

async function explainOne(backends: readonly Backend[]): Promise<void> {
  const lb = inventoryOver(backends, { policy: 'peak-ewma', suppliers: ['zone-preference', 'hint'] })
  const explanation = await lb.explain(SERVICE, { url: RESOURCE, headers: { 'x-sc-lb-hint': 'v2' } })
  print(`\n${bold('Why a request goes where it goes')}`)
  print(`GET ${RESOURCE} with x-sc-lb-hint: v2, own zone ${ZONE}:\n`)
  print(explanationText(explanation))
  await lb.close()
}
