/** @module The caller's request on its way to an instance: readdressed, with the headers and changes asked for. */

import { appendedCookies, withCookie } from '../cookies.js'
import { ConfigError } from '../errors.js'
import { isThenable } from '../report.js'
import type { ServiceLease } from '../service/lease.js'
import type { BalancedService } from '../service/service.js'
import { show } from '../show.js'
import type { ServiceInstance } from '../types/instance.js'
import type { CallOverrides } from '../types/options.js'
import type { PickRequest } from '../types/request.js'
import { isReplayable } from './body.js'
import { forward, forwardInstances } from './forwarded.js'
import { fieldsOf, isRequest, overlaid, readdressed, urlOf } from './input.js'
import { originOf } from './uri.js'

const NOWHERE: readonly never[] = Object.freeze([])

export class Outgoing {
  /** As suppliers and policies see it. */
  readonly request: PickRequest
  /** The caller's. */
  readonly signal: AbortSignal | undefined
  /** The transport has been called in this attempt. What fails before is no fault of the instance. */
  hasLeft = false
  readonly #service: BalancedService
  readonly #input: string | URL | Request
  readonly #init: RequestInit | undefined
  readonly #url: string
  /** Each attempt's, for the headers that SCLB repeats. */
  #sentTo: readonly { instance: ServiceInstance; url: string }[] = NOWHERE
  #original: Request | undefined
  #keepsBody = false

  constructor(
    service: BalancedService,
    input: string | URL | Request,
    init: RequestInit | undefined,
    overrides: CallOverrides,
  ) {
    const request = isRequest(input) ? input : undefined
    this.#service = service
    this.#input = input
    this.#init = init
    this.#url = urlOf(input)
    const headers = init?.headers ?? request?.headers
    const hint = overrides.hint ?? service.settings.hint
    this.request = {
      method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
      url: this.#url,
      ...(headers !== undefined && { headers }),
      ...(overrides.key !== undefined && { key: overrides.key }),
      ...(hint !== undefined && { hint }),
      ...(overrides.attributes !== undefined && { attributes: overrides.attributes }),
    }
    // An explicit null detaches the call from its request's signal.
    this.signal = (init?.signal === undefined ? request?.signal : init.signal) ?? undefined
  }

  /** Whether it can be sent once more. */
  get isReplayable(): boolean {
    return this.#keepsBody || isReplayable(this.#input, this.#init)
  }

  /** A Request with a body is sent as a copy, so that it can be sent again. Costs the memory of what has been sent. */
  keepBody(): void {
    const input = this.#input
    this.#keepsBody = isRequest(input) && !input.bodyUsed && !this.#init?.body && !isReplayable(input, undefined)
  }

  /**
   * Sends it to the instance. Each attempt starts from what the caller gave.
   * @param signal instead of the caller's own
   * @throws what refuses it before it has left: a bad URL, a transformer
   */
  send(lease: ServiceLease, signal: AbortSignal | undefined): Response | Promise<Response> {
    this.hasLeft = false
    const { instance } = lease
    const input = this.#input
    const url = instance.host === '' ? this.#asked() : lease.url(this.#url)
    const init = this.#initFor(instance, url, signal)
    if (!isRequest(input)) return this.#deliver(instance, url, init)
    const fields = instance.fetcher === undefined ? fieldsOf(input) : undefined
    if (fields !== undefined) return this.#deliver(instance, url, overlaid(fields, init))
    const request = readdressed(this.#keepsBody ? input.clone() : input, url)
    return request instanceof Promise
      ? request.then((made) => this.#deliverStill(instance, made, init))
      : this.#deliver(instance, request, init)
  }

  /** Unless the attempt has ended while its body was read. */
  #deliverStill(instance: ServiceInstance, to: Request, init: RequestInit | undefined): Response | Promise<Response> {
    const signal = init?.signal ?? this.signal
    if (signal?.aborted) throw signal.reason
    return this.#deliver(instance, to, init)
  }

  #deliver(
    instance: ServiceInstance,
    to: string | Request,
    init: RequestInit | undefined,
  ): Response | Promise<Response> {
    const { transport, transformers } = this.#service
    const { fetcher } = instance
    if (fetcher === undefined && transformers.length === 0) {
      this.hasLeft = true
      return transport(to, init)
    }
    // An application (Hono's, say) takes a Request alone; a binding takes one too.
    const whole = isRequest(to) && init === undefined ? to : new Request(to, init)
    const request = transformers.length === 0 ? whole : this.#transformed(whole, instance)
    this.hasLeft = true
    if (fetcher !== undefined) return fetcher.fetch(request)
    // A transformer may have made its request anew: it can be aborted all the same.
    const signal = init?.signal ?? this.signal
    return transport(request, signal === undefined ? undefined : { signal })
  }

  #transformed(request: Request, instance: ServiceInstance): Request {
    const { transformers, serviceId } = this.#service
    this.#original ??= this.#withoutBody()
    for (const [i, transform] of transformers.entries()) {
      const made: unknown = transform(request, instance, this.#original)
      if (!isRequest(made as Request)) {
        const isPromise = isThenable(made)
        // Nobody will ask what became of it.
        if (isPromise) made.then(undefined, () => {})
        const returned = isPromise ? 'a promise' : show(made)
        const message = `transformers[${i}] returned ${returned} for a call of "${serviceId}": a Request is needed`
        throw new ConfigError(message, { serviceId, option: `transformers[${i}]` })
      }
      request = made as Request
    }
    return request
  }

  /** What the caller asked for, as a Request. The body goes with the one that is sent: it can be read once. */
  #withoutBody(): Request {
    if (isRequest(this.#input) && this.#init === undefined) return this.#input
    const { body: _, ...rest } = this.#init ?? {}
    const { method, headers } = this.request
    return new Request(this.#asked(), {
      ...rest,
      ...(method !== undefined && { method }),
      ...(headers !== undefined && { headers }),
    })
  }

  /**
   * The URL with a host: a path alone gets the service's name, which is what a binding is given too.
   * @param scheme for lb://service/, which leaves it to the instance
   */
  #asked(scheme = 'http'): string {
    const url = this.#url
    if (url.startsWith('//')) return `http:${url}`
    if (/^lb:\/\//i.test(url)) return `${scheme}${url.slice(2)}`
    return /^[/?#]/.test(url) ? `http://${this.#service.serviceId}${url.startsWith('/') ? '' : '/'}${url}` : url
  }

  #initFor(instance: ServiceInstance, url: string, signal: AbortSignal | undefined): RequestInit | undefined {
    const headers = this.#headersFor(instance, url)
    if (signal === undefined && headers === undefined) return this.#init
    return { ...this.#init, ...(signal !== undefined && { signal }), ...(headers !== undefined && { headers }) }
  }

  /** Undefined: the caller's own will do. */
  #headersFor(instance: ServiceInstance, url: string): Headers | undefined {
    const { sticky, xForwarded, quirks } = this.#service.settings
    const addsCookie = sticky?.addServiceInstanceCookie === true
    if (!xForwarded && !addsCookie) return undefined
    const headers = new Headers(this.request.headers)
    this.#sentTo = [...this.#sentTo, { instance, url }]
    if (xForwarded) {
      if (quirks.has('x-forwarded-instance'))
        forwardInstances(
          headers,
          this.#sentTo.map((sent) => sent.url),
        )
      else forward(headers, this.#asked(originOf(url)?.scheme))
    }
    if (addsCookie) {
      const given = headers.get('cookie') ?? undefined
      const appends = quirks.has('sticky-cookie-appends')
      const sentTo = this.#sentTo.map((sent) => sent.instance.instanceId)
      headers.set(
        'cookie',
        appends ? appendedCookies(given, sticky.cookie, sentTo) : withCookie(given, sticky.cookie, instance.instanceId),
      )
    }
    return headers
  }
}
