/** @module Ribbon's retry handlers: which failures are tried again, where, and which trip an instance's breaker. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { boolean, object, oneOf } from '../config/check.js'
import { TimeoutError } from '../errors.js'
import { type ConnectionFailure, connectionFailureOf, isUnconnected } from '../runtime/connection-errors.js'
import type { RetryFailure, RetryHandler } from '../types/extension.js'
import type { RetryHandlerName } from '../types/options.js'
import type { Outcome } from '../types/request.js'

export interface RetryHandlerOptions {
  /** Default `'rest-client'`. */
  kind?: RetryHandlerName
  /** Ribbon's `OkToRetryOnAllOperations`. Default false. */
  retryOnAllOperations?: boolean
}

/** What one of Ribbon's handlers knows. */
interface Classes {
  /** Worth another try at the same instance; at another any error is. */
  readonly same: ReadonlySet<ConnectionFailure>
  readonly trips: ReadonlySet<ConnectionFailure>
  /** The same by the classes of the exceptions alone. */
  readonly tripsByClass: ReadonlySet<ConnectionFailure>
  /** A status that says that the instance is overloaded, not that the request failed. */
  readonly throttled: number | undefined
}

const THROTTLED = 503

/*
 * What stands for Java's exceptions; those of a client's own are in the column of its handler.
 *
 *   refused          ConnectException (HttpHostConnectException)
 *   unreachable      NoRouteToHostException, BindException: SocketException
 *   reset            SocketException itself
 *   connect-timeout  http-client: ConnectTimeoutException; netty: its own, a ConnectException
 *   read-timeout     SocketTimeoutException; netty: ReadTimeoutException
 *   unresolved       UnknownHostException
 *   closed           http-client: NoHttpResponseException
 *   pool-timeout     http-client: ConnectionPoolTimeoutException; netty: PoolExhaustedException
 *   unknown          workerd and browsers: any of them
 */
const CONNECTING: readonly ConnectionFailure[] = ['refused', 'connect-timeout', 'read-timeout']
const BY_CLASS: readonly ConnectionFailure[] = [...CONNECTING, 'unreachable', 'reset', 'unknown']
/** And what says the same to us, whatever its class. */
const CONNECTION: readonly ConnectionFailure[] = [...BY_CLASS, 'unresolved', 'closed']

const HTTP_CLIENT: Classes = {
  same: new Set([...CONNECTING, 'closed', 'pool-timeout']),
  trips: new Set(CONNECTION),
  tripsByClass: new Set([...BY_CLASS, 'pool-timeout']),
  throttled: THROTTLED,
}

const CLASSES: Record<RetryHandlerName, Classes> = {
  default: {
    same: new Set(CONNECTING),
    trips: new Set(CONNECTION),
    tripsByClass: new Set(BY_CLASS),
    throttled: undefined,
  },
  'http-client': HTTP_CLIENT,
  netty: {
    same: new Set([...CONNECTING, 'pool-timeout']),
    trips: new Set([...CONNECTION, 'pool-timeout']),
    tripsByClass: new Set([...BY_CLASS, 'pool-timeout']),
    throttled: THROTTLED,
  },
  'rest-client': HTTP_CLIENT,
}

/** RestClient's, beside a POST that could not be sent: SocketException and below, but no time that was over. */
const RESET_IS_CONNECT: ReadonlySet<ConnectionFailure> = new Set(['refused', 'unreachable', 'reset'])

const check = object({ kind: oneOf(...Object.keys(CLASSES)), retryOnAllOperations: boolean })

/**
 * One of Ribbon's classifications, in terms of `fetch`.
 *
 * | kind | the same instance again | another one | trips the breaker |
 * |---|---|---|---|
 * | `default` | refused, connect or read timeout | any error | connection errors, timeouts |
 * | `http-client` | also closed without an answer, no connection free | also 503 | also 503 |
 * | `netty` | as `default`, and no connection free | also 503 | also no connection free, 503 |
 *
 * These three retry nothing unless `retryOnAllOperations` is set, and then any method. `rest-client` is the one for
 * HTTP: a GET is repeated on any error and on 503, anywhere; another method only where the connection could not be
 * made, so that nothing was sent, and on another instance after a 503; with `retryOnAllOperations` as a GET.
 * A status other than 503 is an answer. What the caller aborted is never repeated, whatever a handler says.
 *
 * Use it for a client that did so in Ribbon. Breaks with `retryOnAllOperations` where a POST is not idempotent: it may
 * be carried out twice.
 * @throws EVENKEEL_CONFIG naming the option
 * @see Ribbon 2.7.18 DefaultLoadBalancerRetryHandler, HttpClientLoadBalancerErrorHandler, RequestSpecificRetryHandler.
 *   Otherwise than there, a POST whose connection was reset is not sent again, one whose host did not resolve is:
 *   `ribbon-reset-is-connect` and `ribbon-trips-by-class` in docs/quirks.md.
 * @example retry: { handler: retryHandler({ kind: 'rest-client' }) }
 */
export function retryHandler(options: RetryHandlerOptions = {}): RetryHandler {
  check(options, 'retryHandler')
  const { kind = 'rest-client', retryOnAllOperations = false } = options
  const classes = CLASSES[kind]
  const retriable =
    kind === 'rest-client'
      ? (failure: RetryFailure, sameInstance: boolean) => isRestRetriable(failure, sameInstance, retryOnAllOperations)
      : (failure: RetryFailure, sameInstance: boolean) =>
          retryOnAllOperations && isRetriable(classes, failure, sameInstance)
  const handler: RetryHandler = { name: kind, retriable, trips: (failure) => isTripping(classes, failure) }
  if (kind !== 'rest-client' && !retryOnAllOperations) NEVER.add(handler)
  return handler
}

/** Handlers that are known to retry nothing. */
const NEVER = new WeakSet<RetryHandler>()

/** Whether it may ever say yes: a body need not be kept for one that never does. */
export function mayRetry(handler: RetryHandler): boolean {
  return !NEVER.has(handler)
}

/**
 * Whether an outcome counts towards the breaker of its instance: the connection failed, the time was over, or it
 * answered 503. What was cancelled does not.
 * @see Ribbon 2.7.18 HttpClientLoadBalancerErrorHandler.isCircuitTrippingException
 */
export function isCircuitTripping(outcome: Outcome): boolean {
  return isCircuitTrippingBy(NO_QUIRKS, outcome)
}

export function isCircuitTrippingBy(quirks: Quirks, { cancelled, error, status }: Outcome): boolean {
  return cancelled !== true && isTripping(HTTP_CLIENT, { error, status, quirks })
}

function isRetriable({ same, throttled }: Classes, { error, status }: RetryFailure, sameInstance: boolean): boolean {
  if (error === undefined) return status !== undefined && status === throttled && !sameInstance
  return !sameInstance || has(same, error)
}

function isRestRetriable(
  { error, status, method, quirks }: RetryFailure,
  sameInstance: boolean,
  all: boolean,
): boolean {
  const isThrottled = error === undefined && status === THROTTLED
  if (error === undefined && !isThrottled) return false
  if (all || method === 'GET') return true
  if (isThrottled) return !sameInstance
  const kind = failureOf(error)
  if (kind === undefined) return false
  return quirks?.has('ribbon-reset-is-connect') ? RESET_IS_CONNECT.has(kind) : isUnconnected(kind)
}

function isTripping(classes: Classes, { error, status, quirks }: RetryFailure): boolean {
  if (status !== undefined && status === classes.throttled) return true
  return has(quirks?.has('ribbon-trips-by-class') ? classes.tripsByClass : classes.trips, error)
}

function has(kinds: ReadonlySet<ConnectionFailure>, error: unknown): boolean {
  const kind = failureOf(error)
  return kind !== undefined && kinds.has(kind)
}

/** A limit of evenkeel's own is a read timeout: what was sent by then is not known. */
function failureOf(error: unknown): ConnectionFailure | undefined {
  return error instanceof TimeoutError ? 'read-timeout' : connectionFailureOf(error)
}
