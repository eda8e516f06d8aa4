/** @module The API's questions about EndpointSlices. */

import { isObject } from '../../config/check.js'
import { DiscoveryError } from '../../errors.js'
import { arrayAt, objectAt, textAt } from '../registry/reading.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import type { OpenAnswer, RegistryAnswer, RegistryHttp, RegistryQuestion } from '../registry/registry-http.js'
import type { Credentials } from './credentials.js'
import type { SliceList } from './slice-store.js'

/** Which slices. */
export interface Selection {
  readonly namespace: string
  readonly labelSelector: string
}

/** Tokens whose last use may still be told of by an error. */
const KEPT_TOKENS = 4
const MOST_PAGES = 1_000

/** Names without what they name: of a thousand slices it is a hundredth. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

export class SliceApi {
  readonly #http: RegistryHttp
  readonly #address: RegistryAddress
  readonly #credentials: Credentials
  readonly #limit: number
  #tokens: readonly string[] = []

  constructor(http: RegistryHttp, address: RegistryAddress, credentials: Credentials, limit: number) {
    this.#http = http
    this.#address = address
    this.#credentials = credentials
    this.#limit = limit
  }

  /**
   * All of them, page by page. A list that has grown too old between two pages is asked for once more, as one page.
   * @throws EVENKEEL_DISCOVERY; the signal's reason
   */
  async list(selection: Selection, signal: AbortSignal, accept = 'application/json'): Promise<SliceList> {
    try {
      return await this.#pages(selection, signal, accept, this.#limit)
    } catch (error) {
      if (!isGone(error)) throw error
      return await this.#pages(selection, signal, accept, undefined)
    }
  }

  /** Names of the services that have slices. */
  async services(selection: Selection, signal: AbortSignal): Promise<readonly string[]> {
    const { items } = await this.list(selection, signal, METADATA_ONLY)
    const names = items.map((item, i) => {
      const where = `items[${i}].metadata`
      const { labels } = objectAt(objectAt(item, `items[${i}]`).metadata, where)
      return textAt(objectAt(labels, `${where}.labels`)['kubernetes.io/service-name'], `${where}: its service`)
    })
    return [...new Set(names)].sort()
  }

  /** What changes after `resourceVersion`, a line each, for so long. @throws EVENKEEL_DISCOVERY; the signal's reason */
  watch(
    { namespace, labelSelector }: Selection,
    resourceVersion: string,
    timeoutSeconds: number,
    signal: AbortSignal,
  ): Promise<OpenAnswer> {
    const query = { labelSelector, watch: 'true', resourceVersion, allowWatchBookmarks: 'true', timeoutSeconds }
    return this.#authorised({ path: pathOf(namespace), query }, signal, 'application/json', (question) =>
      this.#http.open(question),
    )
  }

  /** What the API says, as it may be told. */
  quoted(said: string): string {
    return this.#http.quoted(said)
  }

  async #pages(
    { namespace, labelSelector }: Selection,
    signal: AbortSignal,
    accept: string,
    limit: number | undefined,
  ): Promise<SliceList> {
    const items: unknown[] = []
    let next: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const query = { labelSelector, limit, continue: next }
      const page = await this.#authorised({ path: pathOf(namespace), query }, signal, accept, async (question) =>
        pageOf(this.#http.json(withPlainStatus(await this.#http.ask(question)))),
      )
      for (const item of page.items) items.push(item)
      if (page.next === undefined) return { items, resourceVersion: page.resourceVersion }
      next = page.next
    }
    throw new DiscoveryError(`kubernetes: a list of more than ${MOST_PAGES} pages`, { failure: 'too-large' })
  }

  /** With the token; once more with another one, if there is one, when it is refused. */
  async #authorised<T>(
    { path, query }: Pick<RegistryQuestion, 'path' | 'query'>,
    signal: AbortSignal,
    accept: string,
    ask: (question: RegistryQuestion) => Promise<T>,
  ): Promise<T> {
    const askWith = (token: string | undefined) => {
      this.#keepSecret(token)
      const headers = { accept, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
      return ask({ address: this.#address, path, query: query ?? {}, headers, signal })
    }
    const token = await this.#credentials.token(signal)
    try {
      return await askWith(token).catch(async (error) => {
        if (!hasStatus(error, 401)) throw error
        this.#credentials.refused()
        const another = await this.#credentials.token(signal)
        if (another === token) throw error
        return askWith(another)
      })
    } catch (error) {
      throw explained(error)
    }
  }

  #keepSecret(token: string | undefined): void {
    if (token === undefined || this.#tokens.includes(token)) return
    this.#http.keepSecret(token, 'token')
    const kept = [...this.#tokens, token]
    for (const old of kept.slice(0, -KEPT_TOKENS)) this.#http.unhide(old)
    this.#tokens = kept.slice(-KEPT_TOKENS)
  }
}

/** Whether what was asked for is too old to be had: a continuation, or the beginning of a watch. */
export function isGone(error: unknown): boolean {
  return hasStatus(error, 410)
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof DiscoveryError && error.status === status
}

function pathOf(namespace: string): string {
  return `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
}

function pageOf(value: unknown) {
  const { items, metadata } = objectAt(value, 'the list')
  const { resourceVersion, continue: next } = objectAt(metadata, 'metadata of the list')
  return {
    items: arrayAt(items, 'items of the list'),
    resourceVersion: textAt(resourceVersion, 'resourceVersion of the list'),
    next: typeof next === 'string' && next !== '' ? next : undefined,
  }
}

/** What a Status object says, instead of the object. */
function withPlainStatus(answer: RegistryAnswer): RegistryAnswer {
  if (answer.status === 200) return answer
  try {
    const status: unknown = JSON.parse(answer.text)
    return isObject(status) && typeof status.message === 'string' ? { ...answer, text: status.message } : answer
  } catch {
    return answer
  }
}

const ADVICE: Record<number, string> = {
  401: 'no token, or one that is not taken',
  403: 'the service account must be allowed to get, list and watch endpointslices of discovery.k8s.io',
  404: 'the API there has no discovery.k8s.io/v1, or it is no Kubernetes API',
}

/** The same error, with what is to be done about it. */
function explained(error: unknown): unknown {
  if (!(error instanceof DiscoveryError)) return error
  const { message, failure, status, retryAfterMs } = error
  const isUntrusted = failure === 'unreachable' && /certificate/i.test(message)
  const advice = isUntrusted
    ? "the cluster's ca.crt is not trusted: on Node set NODE_EXTRA_CA_CERTS to it, or give a dispatcher by the option init"
    : ADVICE[status ?? 0]
  if (advice === undefined) return error
  return new DiscoveryError(`${message} (${advice})`, {
    ...(failure !== undefined && { failure }),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause: error.cause,
  })
}
