/** @module What answers say: their envelopes, codes, lists. */

import { isObject } from '../../config/check.js'
import { DiscoveryError } from '../../errors.js'
import { arrayAt, malformed, objectAt } from '../registry/reading.js'
import type { RegistryAnswer, RegistryHttp } from '../registry/registry-http.js'
import { ACCESS_DENIED, codeIn, type NacosApi } from './api.js'

const OK = 0
/** A resource, an instance, a service that the server does not know. */
const UNKNOWN: readonly (number | undefined)[] = [20_004, 21_003, 21_008]

/** Nothing under that name; told apart from failures. */
export const NOTHING = Symbol('nothing')

/** What an API of envelopes says: its data, or NOTHING. @throws EVENKEEL_DISCOVERY for any other code, and malformed */
export function dataOf(http: RegistryHttp, answer: RegistryAnswer): unknown {
  if (answer.status !== 200) {
    if (UNKNOWN.includes(codeIn(answer.text))) return NOTHING
    throw http.refusal(answer)
  }
  const envelope = objectAt(http.json(answer), answer.from)
  const { code, message, data } = envelope
  if (typeof code !== 'number') malformed(`${answer.from}: code`, code, 'a number')
  if (UNKNOWN.includes(code as number)) return NOTHING
  if (code !== OK) {
    const said = typeof message === 'string' ? `: ${http.redacted(message.slice(0, 200))}` : ''
    throw new DiscoveryError(`${answer.from} answered code ${code}${said}`, {
      failure: code === ACCESS_DENIED ? 'denied' : 'status',
      status: answer.status,
    })
  }
  return data
}

/** A list as the server says it. */
export interface ListAnswer {
  readonly entries: readonly unknown[]
  /** How long it may be taken as it is, in ms; v3 does not say. */
  readonly cacheMs: number | undefined
  /** Too few were healthy: all are listed, as healthy ones. v3 does not say. */
  readonly isProtected: boolean
  /** Of the question, for errors. */
  readonly from: string
}

export function listOf(http: RegistryHttp, api: NacosApi, answer: RegistryAnswer): ListAnswer {
  const { from } = answer
  const said = api === 'v1' ? http.json(answer) : dataOf(http, answer)
  if (said === NOTHING) return { entries: [], cacheMs: undefined, isProtected: false, from }
  if (api === 'v3') return { entries: arrayAt(said, `${from}: data`), cacheMs: undefined, isProtected: false, from }
  const { hosts, cacheMillis, reachProtectionThreshold } = objectAt(said, api === 'v1' ? from : `${from}: data`)
  return {
    entries: arrayAt(hosts, `${from}: hosts`),
    cacheMs: typeof cacheMillis === 'number' && cacheMillis > 0 ? cacheMillis : undefined,
    isProtected: reachProtectionThreshold === true,
    from,
  }
}

/** That a registration, or its end, was taken. @throws EVENKEEL_DISCOVERY */
export function checkTaken(http: RegistryHttp, api: NacosApi, answer: RegistryAnswer): void {
  if (api !== 'v1') return void dataOf(http, answer)
  const { text, from } = http.accepted(answer)
  if (!/^"?ok"?$/.test(text.trim())) malformed(from, text.slice(0, 40), '"ok"')
}

const BEAT_OK = 10_200
const BEAT_UNKNOWN = 20_404

export interface BeatAnswer {
  /** false: the server has forgotten the instance. */
  readonly isKnown: boolean
  /** When it expects the next, in ms, where it says so. */
  readonly intervalMs: number | undefined
}

export function beatOf(http: RegistryHttp, api: NacosApi, answer: RegistryAnswer): BeatAnswer {
  if (api === 'v3') return { isKnown: dataOf(http, answer) !== NOTHING, intervalMs: undefined }
  const said = http.json(answer)
  const isBare = isObject(said) && 'clientBeatInterval' in said
  const beat = isBare ? said : api === 'v2' ? dataOf(http, answer) : said
  if (beat === NOTHING) return { isKnown: false, intervalMs: undefined }
  const { code = BEAT_OK, clientBeatInterval } = objectAt(beat, answer.from)
  if (code !== BEAT_OK && code !== BEAT_UNKNOWN) {
    throw new DiscoveryError(`${answer.from} answered code ${code}`, { failure: 'status', status: answer.status })
  }
  const isInterval = typeof clientBeatInterval === 'number' && clientBeatInterval > 0
  return { isKnown: code === BEAT_OK, intervalMs: isInterval ? clientBeatInterval : undefined }
}
