/**
 * @module A refresh of 10 000 instances of which 1 % are new, next to building a Map of them by id. Both get what the
 * client of a registry has: values fresh out of JSON.parse, with strings that nobody has hashed yet.
 */

import { createLoadBalancer, type InstanceInit } from 'evenkeel'
import { middle, ratio } from '../harness/median.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { ms, times } from '../harness/text.js'
import { scattered } from '../peers/scattered.js'

const INSTANCES = 10_000
const GENERATIONS = 8

interface Registered {
  readonly instanceId: string
  readonly host: string
  readonly port: number
  readonly metadata: { readonly zone: string }
}

const FORMS: Record<string, (host: string) => InstanceInit> = {
  objects: (host) =>
    ({ instanceId: `stock:${host}:8080`, host, port: 8080, metadata: { zone: 'shanghai' } }) satisfies Registered,
  URLs: (host) => `http://${host}:8080`,
}

const idOf = (init: InstanceInit) => (typeof init === 'string' ? init : (init as Registered).instanceId)

export const listRefresh: Suite = {
  cases: Object.keys(FORMS).map((name) => ({ name })),
  effort: { rounds: 40, calls: 3, warmUpMs: 400 },
  async measure(form, effort) {
    const texts = Array.from({ length: GENERATIONS }, (_, generation) => JSON.stringify(listOf(generation, form)))
    const contestants = [
      withFreshLists('Map', texts, (list) => {
        const byId = new Map<string, InstanceInit>()
        for (const init of list) byId.set(idOf(init), init)
        return byId.size
      }),
      updates('update', texts, false),
      updates('update and pick', texts, true),
    ]
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => [
    against(found, 'objects', 'update', 'update()', 3),
    against(found, 'URLs', 'update', 'update()', 3),
    against(found, 'objects', 'update and pick', 'update() and the first pick after it'),
    against(found, 'URLs', 'update and pick', 'update() and the first pick after it'),
  ],
}

/** One in a hundred hosts is another one in each generation. */
function listOf(generation: number, form: string): InstanceInit[] {
  return Array.from({ length: INSTANCES }, (_, i) => {
    const network = scattered(i, 100) === 0 ? 100 + generation : 10
    return FORMS[form]?.(`${network}.0.${i >> 8}.${i & 255}`) as InstanceInit
  })
}

function updates(name: string, texts: readonly string[], picks: boolean): Contestant {
  const service = createLoadBalancer({ seed: 42, services: { bench: [] } }).service('bench')
  return withFreshLists(name, texts, (list) => {
    const change = service.update(list)
    if (picks) service.pick()?.done()
    return change.added.length
  })
}

function withFreshLists(name: string, texts: readonly string[], work: (list: InstanceInit[]) => number): Contestant {
  let generation = 0
  let list: InstanceInit[] = []
  return {
    name,
    ops: 1,
    before() {
      list = JSON.parse(texts[generation++ % texts.length] as string)
    },
    run: () => work(list),
  }
}

function against(found: Found, form: string, name: string, what: string, most?: number): Judgement {
  const { timings } = caseOf(found, form)
  const value = ratio(timings, name, 'Map')
  return {
    what: `${what}, 10 000 instances as ${form}, 1 % changed, against building a Map of them`,
    measured: `${times(value)} (${ms(middle(timings, name) / 1e6)} against ${ms(middle(timings, 'Map') / 1e6)})`,
    ...(most !== undefined && { budget: `≤ ${most} ×`, met: value <= most }),
  }
}
