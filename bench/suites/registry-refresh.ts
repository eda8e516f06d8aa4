/**
 * @module 10 000 instances of one service, 1 % of them new, from the answer of a registry to the balancer's list: what
 * the protocols cost beside parsing their answers, and publishing alone next to building a Map.
 */

import { createLoadBalancer, type DiscoveryClient } from 'evenkeel'
import { consulDiscovery } from 'evenkeel/consul'
import { eurekaDiscovery } from 'evenkeel/eureka'
import { type Found as Listed, ListKeeper } from '../../bindings/discovery/registry/list-keeper.js'
import { middle, ratio } from '../harness/median.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { ms, times } from '../harness/text.js'
import {
  answerOf,
  CONSUL_TEXTS,
  EUREKA_TEXTS,
  EurekaServer,
  GENERATIONS,
  LIST_TEXTS,
} from '../peers/registry-answers.js'

export const registryRefresh: Suite = {
  cases: ['list', 'consul', 'eureka'].map((name) => ({ name })),
  effort: { rounds: 8, calls: 3, warmUpMs: 300 },
  async measure(name, effort) {
    return { timings: await inRounds(await contestants(name), effort) }
  },
  judge: (found) => [
    against(found, 'list', 'publish', 'Map', 'publishing a list that its keeper has read', 3),
    against(found, 'list', 'keep and publish', 'Map', 'keeping a list and publishing it'),
    against(found, 'list', 'keep and publish', 'JSON.parse', 'keeping a list and publishing it'),
    against(found, 'consul', 'refresh', 'JSON.parse', 'a full answer of Consul'),
    against(found, 'consul', 'refresh', 'Map', 'a full answer of Consul'),
    against(found, 'eureka', 'refresh', 'JSON.parse', "Eureka's answer of the changes"),
    against(found, 'eureka', 'refresh', 'Map', "Eureka's answer of the changes"),
  ],
}

async function contestants(name: string): Promise<Contestant[]> {
  if (name === 'consul') return [...parsed(CONSUL_TEXTS), asking()]
  if (name === 'eureka') return [...parsed(EUREKA_TEXTS), await watching()]
  return [...parsed(LIST_TEXTS), publishing('publish', true), publishing('keep and publish', false)]
}

/** What is done anyway: the text is parsed. And a Map of as many instances, by id. */
function parsed(texts: readonly string[]): Contestant[] {
  let generation = 0
  let list: Listed[] = []
  return [
    {
      name: 'JSON.parse',
      ops: 1,
      run: () => Object.keys(JSON.parse(texts[generation++ % GENERATIONS] as string)).length,
    },
    {
      name: 'Map',
      ops: 1,
      before() {
        list = JSON.parse(LIST_TEXTS[generation++ % GENERATIONS] as string)
      },
      run: () => new Map(list.map((each) => [each.instanceId, each])).size,
    },
  ]
}

/** By `get`, which answers at once: the keeper's part is timed, or not. */
function publishing(name: string, isKept: boolean): Contestant {
  const keeper = new ListKeeper()
  let generation = 0
  let found: Listed[] = []
  let list = keeper.keep([])
  const discovery: DiscoveryClient = { name, get: () => (isKept ? list : keeper.keep(found)) }
  const service = createLoadBalancer({ seed: 42, discovery }).service('bench')
  return {
    name,
    ops: 1,
    before() {
      found = JSON.parse(LIST_TEXTS[generation++ % GENERATIONS] as string)
      if (isKept) list = keeper.keep(found)
    },
    run: async () => (await service.refresh()).added.length,
  }
}

/** All of it asked for, by `get`. */
function asking(): Contestant {
  let generation = 0
  const consul = consulDiscovery({
    url: 'http://registry',
    fetch: async () => answerOf(CONSUL_TEXTS[generation++ % GENERATIONS] as string, { 'x-consul-index': '1' }),
  })
  const discovery: DiscoveryClient = { name: 'consul', get: (id, options) => consul.get(id, options) }
  const service = createLoadBalancer({ seed: 42, discovery }).service('bench')
  return { name: 'refresh', ops: 1, run: async () => (await service.refresh()).added.length }
}

/** From the moment when the answer of the changes arrives until the balancer tells of them. */
async function watching(): Promise<Contestant> {
  const server = new EurekaServer()
  const discovery = eurekaDiscovery({ url: 'http://registry', fetch: server.fetch, registryFetchIntervalMs: 1 })
  const service = createLoadBalancer({ seed: 42, discovery }).service('bench')
  let changed: (added: number) => void = () => {}
  service.on('change', ({ added }) => changed(added.length))
  await service.choose()
  return {
    name: 'refresh',
    ops: 1,
    before: () => server.asked(),
    async run() {
      await server.asked()
      const added = new Promise<number>((resolve) => {
        changed = resolve
      })
      server.answer()
      return added
    },
  }
}

function against(found: Found, name: string, a: string, b: string, what: string, most?: number): Judgement {
  const { timings } = caseOf(found, name)
  const value = ratio(timings, a, b)
  const other = b === 'Map' ? 'building a Map of 10 000' : 'parsing its text'
  return {
    what: `${what}, 1 % of 10 000 instances changed, against ${other}`,
    measured: `${times(value)} (${ms(middle(timings, a) / 1e6)} against ${ms(middle(timings, b) / 1e6)})`,
    ...(most !== undefined && { budget: `≤ ${most} ×`, met: value <= most }),
  }
}
