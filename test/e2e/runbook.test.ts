/**
 * Every answer in docs/runbook.md is what its question prints in a process that has the trouble.
 * `UPDATE_RUNBOOK=1 npx vitest run test/e2e/runbook.test.ts` writes the answers into it.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { formatWithOptions } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type LoadBalancer, roundRobin, version } from '../../bindings/index.js'

interface Question {
  readonly code: string
  readonly answer: string
}

const PAGE = new URL('../../docs/runbook.md', import.meta.url)
let runbook = await readFile(PAGE, 'utf8')
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section): [string, Question[]] => [
      section.slice(0, section.indexOf('\n')),
      [...section.matchAll(/^```js\n(.*?)^```\n\n```text\n(.*?)^```/gms)].map(([, code, answer]) => ({
        code: code as string,
        answer: answer as string,
      })),
    ]),
)

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...values: unknown[]) => Promise<void>

/** All questions of a section, asked one after the other in one process; what each printed. */
async function ask(questions: readonly Question[], lb: LoadBalancer): Promise<string[]> {
  const printed = questions.map(() => '')
  let at = 0
  const log = (...values: unknown[]) => {
    printed[at] += `${formatWithOptions({ breakLength: 110, compact: 3 }, ...values)}\n`
  }
  const code = questions.map(({ code }) => `${code}\nnext()\n`).join('')
  await new AsyncFunction('lb', 'console', 'next', code)(lb, { log }, () => at++)
  return printed
}

const instances = [1, 2, 3].map((i) => ({
  url: `http://10.0.0.${i}:8080`,
  zone: i === 3 ? 'beijing' : 'shanghai',
  version: 'v1',
}))

/** The service in its trouble, by the title of the section. */
const TROUBLES: Record<string, () => Promise<LoadBalancer>> = {
  async 'No instance'() {
    const lb = createLoadBalancer({
      clock: () => 0,
      zone: 'shanghai',
      services: {
        inventory: {
          discovery: {
            name: 'nacos',
            get: () => instances,
            describe: () => ({ address: 'nacos.internal:8848', namespace: 'prod', group: 'DEFAULT_GROUP' }),
          },
          suppliers: [version({ strict: true }), 'zone-preference'],
          noInstance: 'response',
        },
      },
    })
    await lb.fetch('http://inventory/stock', { headers: { 'x-service-version': 'v2' } })
    return lb
  },

  async 'An old instance'() {
    const time = { now: 0 }
    let listed = instances
    const lb = createLoadBalancer({
      clock: () => time.now,
      fetch: async () => new Response(),
      services: {
        inventory: {
          discovery: { name: 'registry', get: () => listed },
          cache: { ttlMs: 35_000, staleMs: 0 },
          policy: roundRobin({ start: -1 }),
        },
      },
    })
    const callAll = async () => {
      for (let i = 0; i < 3; i++) await lb.fetch('http://inventory/stock')
    }
    time.now = 1_000
    await callAll()
    listed = instances.slice(0, 2)
    time.now = 20_000
    await callAll()
    time.now = 36_000
    await callAll()
    time.now = 40_000
    lb.service('inventory').stopped('10.0.0.3:8080', { at: 12_000 })
    return lb
  },

  async 'Uneven load'() {
    const lb = createLoadBalancer({
      clock: () => 0,
      zone: 'shanghai',
      fetch: async () => new Response(),
      services: {
        inventory: {
          instances,
          suppliers: ['hint', 'zone-preference'],
          policy: roundRobin({ start: -1 }),
          trace: { sample: 1 },
        },
      },
    })
    const service = lb.service('inventory')
    for (let i = 0; i < 6; i++) await service.fetch('/stock', { headers: { 'x-sc-lb-hint': 'blue' } })
    service.pick()
    return lb
  },

  async 'A slow instance'() {
    const time = { now: 0 }
    const lb = createLoadBalancer({
      clock: () => time.now,
      fetch: async (input) => {
        time.now += String(input).includes('10.0.0.2') ? 1_000 : 10
        return new Response()
      },
      services: { inventory: { instances, policy: roundRobin({ start: -1 }) } },
    })
    for (let i = 0; i < 30; i++) await lb.fetch('http://inventory/stock')
    return lb
  },
}

describe.each(Object.keys(TROUBLES))('%s', (title) => {
  it('prints what the runbook says', async () => {
    const questions = sections.get(title) ?? []
    expect(questions.length).toBeGreaterThan(1)
    const lb = await (TROUBLES[title] as () => Promise<LoadBalancer>)()
    const answers = await ask(questions, lb)
    await lb.close()
    if (process.env.UPDATE_RUNBOOK) return writeAnswers(questions, answers)
    expect(answers).toEqual(questions.map(({ answer }) => answer))
  })
})

async function writeAnswers(questions: readonly Question[], answers: readonly string[]): Promise<void> {
  for (const [i, { code, answer }] of questions.entries()) {
    const written = (text: string) => `\`\`\`js\n${code}\`\`\`\n\n\`\`\`text\n${text}\`\`\``
    runbook = runbook.replace(written(answer), () => written(answers[i] as string))
  }
  await writeFile(PAGE, runbook)
}
