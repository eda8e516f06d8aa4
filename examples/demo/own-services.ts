/** @module The run against services of the user's own. */

import { createLoadBalancer, type LoadBalancer } from 'evenkeel'
import type { OwnServices } from './arguments.js'
import { readConfig } from './config-file.js'
import { explanationText } from './explanation-text.js'
import { sendAll } from './load.js'
import { plural, seconds } from './numbers.js'
import { lineOf, Problem } from './problem.js'
import { showProgress } from './progress.js'
import { checkSums, rowsOf, statsOf } from './rows.js'
import { tableOf } from './table.js'
import { bold, print } from './terminal.js'

export async function callOwnServices(asked: OwnServices): Promise<void> {
  const { service, requests, concurrency, path, headers, json } = asked
  if (/[/?#@:\s]/.test(service)) throw new Problem(`--service "${service}" can't be the host of a URL`, 2)
  const url = `http://${service}${path}`
  const lb = createLoadBalancer(await readConfig(asked.configFile, service, asked.policy))
  try {
    const startedAt = performance.now()
    const unanswered = await callAll(lb, url, asked)
    const tookMs = performance.now() - startedAt
    checkSums(lb, service, requests)
    const explain = await lb.explain(service, { method: 'GET', url, headers })
    const instances = rowsOf(lb, service)
    if (json) {
      // JSON has no NaN: `stringify` writes null for it.
      print(JSON.stringify({ policy: explain.policy, service, requests, instances, explain }, undefined, 2))
    } else {
      print(
        `${bold(explain.policy)}: ${plural(requests, 'request')} to ${url}, ${concurrency} at a time (${seconds(tookMs)})`,
      )
      print(tableOf(instances))
      const { retriesSame, retriesNext, noInstance } = statsOf(lb, service)
      const retries = retriesSame + retriesNext
      if (retries > 0) print(`Retries: ${retries}.`)
      if (noInstance > 0) print(`Picks that found no instance: ${noInstance}.`)
      print(`\n${bold('Why a request goes where it goes')}\n`)
      print(explanationText(explain))
    }
    if (unanswered.length > 0) {
      throw new Problem(`${unanswered.length} of ${requests} requests got no answer: ${mostFrequent(unanswered)}`, 1)
    }
  } finally {
    await lb.close()
  }
}

/** What went wrong with each request that got no answer. */
async function callAll(lb: LoadBalancer, url: string, asked: OwnServices): Promise<string[]> {
  const unanswered: string[] = []
  const progress = showProgress(asked.service, asked.requests)
  const send = async () => {
    try {
      const response = await lb.fetch(url, { headers: asked.headers })
      // A connection is free for the next request when the body has been read.
      await response.arrayBuffer()
    } catch (error) {
      unanswered.push(lineOf(error))
    }
  }
  try {
    await sendAll(asked.requests, asked.concurrency, send, progress.advance)
  } finally {
    progress.stop()
  }
  return unanswered
}

function mostFrequent(lines: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].reduce((most, next) => (next[1] > most[1] ? next : most))[0]
}
