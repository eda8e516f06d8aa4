/** @module From entries of Nacos to instances. */

import { messageOf } from '../message-of.js'
import type { Found } from '../registry/list-keeper.js'
import { malformed, objectAt, portAt, textAt, textsAt } from '../registry/reading.js'
import type { ListAnswer } from './answers.js'
import type { NacosDiscoveryOptions } from './options.js'

export type Selection = Pick<NacosDiscoveryOptions, 'clusters' | 'clusterFallback' | 'healthyOnly' | 'ephemeral'>

export interface Selected {
  readonly found: readonly Found[]
  /** What was said of entries that could not be read. */
  readonly unreadable: readonly string[]
  /** None of the clusters had anybody: all are listed. */
  readonly fellBack: boolean
}

interface Entry {
  readonly found: Found
  readonly cluster: string
  readonly isHealthy: boolean
  readonly isEnabled: boolean
  readonly isEphemeral: boolean
}

/** The weight that stands for an infinite one, and the highest that servers take. */
export const MOST_WEIGHT = 10_000

/** @throws EVENKEEL_DISCOVERY, malformed, if there are entries and none can be read */
export function selectedOf(answer: ListAnswer, selection: Selection): Selected {
  const { clusters = [], clusterFallback = false, healthyOnly = true, ephemeral } = selection
  const unreadable: string[] = []
  let firstError: unknown
  const entries: Entry[] = []
  answer.entries.forEach((each, i) => {
    try {
      entries.push(entryOf(each, `${answer.from}: instance ${i}`))
    } catch (error) {
      firstError ??= error
      unreadable.push(messageOf(error))
    }
  })
  if (entries.length === 0 && firstError !== undefined) throw firstError
  const listed = entries.filter(
    ({ isEnabled, isHealthy, isEphemeral }) =>
      isEnabled &&
      (isHealthy || !healthyOnly || answer.isProtected) &&
      (ephemeral === undefined || ephemeral === isEphemeral),
  )
  // Not every server that speaks the protocol heeds the clusters of the question.
  const inClusters = clusters.length === 0 ? listed : listed.filter(({ cluster }) => clusters.includes(cluster))
  const fellBack =
    clusterFallback && inClusters.length < listed.length && !inClusters.some(({ isHealthy }) => isHealthy)
  return { found: (fellBack ? listed : inClusters).map(({ found }) => found), unreadable, fellBack }
}

function entryOf(value: unknown, where: string): Entry {
  const { instanceId, ip, port, weight, healthy, enabled, ephemeral, clusterName, metadata, serviceName } = objectAt(
    value,
    where,
  )
  const host = textAt(ip, `${where}: ip`).replace(/^\[(.*)\]$/, '$1')
  if (host === '') malformed(`${where}: ip`, ip, 'an address')
  const cluster = typeof clusterName === 'string' && clusterName !== '' ? clusterName : 'DEFAULT'
  const own = textsAt(metadata, `${where}: metadata`)
  const [isHealthy, isEphemeral] = [healthy !== false, ephemeral !== false]
  const number = portAt(port, `${where}: port`)
  const weighs = String(weightOf(weight, `${where}: weight`))
  const id =
    typeof instanceId === 'string' && instanceId !== ''
      ? instanceId
      : `${host}#${number}#${cluster}#${typeof serviceName === 'string' ? serviceName : ''}`
  return {
    cluster,
    isHealthy,
    isEphemeral,
    isEnabled: enabled !== false,
    found: {
      instanceId: id,
      host,
      port: number,
      secure: own.secure === 'true',
      rank: isHealthy ? 1 : 0,
      metadata: {
        zone: cluster,
        ...own,
        weight: weighs,
        status: isHealthy ? 'UP' : 'DOWN',
        'nacos.instanceId': id,
        'nacos.weight': weighs,
        'nacos.healthy': String(isHealthy),
        'nacos.cluster': cluster,
        'nacos.ephemeral': String(isEphemeral),
      },
    },
  }
}

/** As Nacos' own client weighs: below 0 is 0, what is no number is 1, the infinite is 10 000. Jackson writes these as texts. */
function weightOf(value: unknown, where: string): number {
  if (value === undefined || value === null || value === 'NaN') return 1
  const weight = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof weight !== 'number' || Number.isNaN(weight)) return malformed(where, value, 'a number')
  return Math.min(Math.max(weight, 0), MOST_WEIGHT)
}
