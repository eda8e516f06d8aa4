/** @module Names of the services in a group. */

import { arrayAt, objectAt, textAt } from '../registry/reading.js'
import type { RegistryAnswer, RegistryHttp } from '../registry/registry-http.js'
import { dataOf, NOTHING } from './answers.js'
import type { ApiQuestion, NacosApi } from './api.js'
import type { Servers } from './servers.js'

const PAGE_SIZE = 1_000
const MOST_PAGES = 1_000

interface Group {
  readonly group: string
  readonly namespace: string | undefined
}

interface Page {
  readonly names: readonly string[]
  /** How many the server gave, of whichever group. */
  readonly length: number
}

/** @throws EVENKEEL_DISCOVERY, denied among others: servers of 3.x tell it to administrators only, but in the v1 API */
export async function serviceNames(servers: Servers, group: Group, signal: AbortSignal): Promise<readonly string[]> {
  const names = new Set<string>()
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { names: some, length } = await pageOf(servers, group, page, signal)
    for (const name of some) names.add(name)
    if (length < PAGE_SIZE) break
  }
  return [...names].sort()
}

function pageOf(servers: Servers, group: Group, page: number, signal: AbortSignal): Promise<Page> {
  return servers.askOldest(
    signal,
    (api) => question(api, group, page),
    (api, answer) => read(servers.http, api, answer, group.group),
  )
}

function question(api: NacosApi, { group, namespace }: Group, page: number): ApiQuestion {
  const query = { pageNo: page, pageSize: PAGE_SIZE, namespaceId: namespace }
  if (api === 'v3') return { path: '/v3/admin/ns/service/list', query: { ...query, groupNameParam: group } }
  return { path: `/${api}/ns/service/list`, query: { ...query, groupName: group } }
}

function read(http: RegistryHttp, api: NacosApi, answer: RegistryAnswer, group: string): Page {
  const { from } = answer
  const said = api === 'v1' ? http.json(answer) : dataOf(http, answer)
  if (said === NOTHING) return { names: [], length: 0 }
  const body = objectAt(said, from)
  if (api === 'v3') {
    const items = arrayAt(body.pageItems, `${from}: pageItems`).map((item, i) => objectAt(item, `${from}: item ${i}`))
    const inGroup = items.filter(({ groupName }) => groupName === group)
    return { names: inGroup.map(({ name }) => textAt(name, `${from}: name`)), length: items.length }
  }
  const list = arrayAt(api === 'v1' ? body.doms : body.services, from)
  return { names: list.map((name) => textAt(name, from)), length: list.length }
}
