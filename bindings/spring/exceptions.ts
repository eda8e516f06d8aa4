/** @module Java's exception classes as predicates over what `fetch` throws. */

import { isConnectionError } from '../index.js'

export type ExceptionTest = (error: unknown) => boolean

/** By their codes: evenkeel's own, the same in every entry of the package, and undici's for an answer that stays out. */
const TIMEOUTS = new Set<unknown>(['EVENKEEL_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

const isTimeout: ExceptionTest = (error) => {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } }
  return TIMEOUTS.has(code) || TIMEOUTS.has(cause?.code)
}

const isConnectionFailure: ExceptionTest = (error) => isConnectionError(error) && !isTimeout(error)

/** SCLB's default, IOException and TimeoutException; evenkeel's too. */
export const isConnectionErrorOrTimeout: ExceptionTest = (error) => isConnectionError(error) || isTimeout(error)

export const isAnything: ExceptionTest = () => true

/** Answers with a status in `retryable-status-codes` are tried again without being asked for here. */
const isNothing: ExceptionTest = () => false

/** No exception of `fetch` tells more than whether the connection failed or the time was over. */
const CLASSES: Readonly<Record<string, ExceptionTest>> = {
  'java.lang.Throwable': isAnything,
  'java.lang.Exception': isAnything,
  'java.lang.RuntimeException': isAnything,
  'java.io.IOException': isConnectionErrorOrTimeout,
  'java.io.UncheckedIOException': isConnectionErrorOrTimeout,
  'java.io.InterruptedIOException': isTimeout,
  'java.io.EOFException': isConnectionFailure,
  'java.net.SocketException': isConnectionFailure,
  'java.net.ConnectException': isConnectionFailure,
  'java.net.NoRouteToHostException': isConnectionFailure,
  'java.net.PortUnreachableException': isConnectionFailure,
  'java.net.UnknownHostException': isConnectionFailure,
  'java.nio.channels.ClosedChannelException': isConnectionFailure,
  'java.nio.channels.UnresolvedAddressException': isConnectionFailure,
  'java.net.SocketTimeoutException': isTimeout,
  'java.net.http.HttpTimeoutException': isTimeout,
  'java.net.http.HttpConnectTimeoutException': isTimeout,
  'java.util.concurrent.TimeoutException': isTimeout,
  'io.netty.handler.timeout.TimeoutException': isTimeout,
  'io.netty.handler.timeout.ReadTimeoutException': isTimeout,
  'io.netty.handler.timeout.WriteTimeoutException': isTimeout,
  'io.netty.channel.ConnectTimeoutException': isConnectionErrorOrTimeout,
  'reactor.netty.http.client.PrematureCloseException': isConnectionFailure,
  'org.apache.http.NoHttpResponseException': isConnectionFailure,
  'org.apache.http.conn.HttpHostConnectException': isConnectionFailure,
  'org.apache.http.conn.ConnectTimeoutException': isConnectionErrorOrTimeout,
  'org.apache.hc.core5.http.NoHttpResponseException': isConnectionFailure,
  'org.apache.hc.client5.http.HttpHostConnectException': isConnectionFailure,
  'org.apache.hc.client5.http.ConnectTimeoutException': isConnectionErrorOrTimeout,
  'org.springframework.web.client.ResourceAccessException': isConnectionErrorOrTimeout,
  'org.springframework.web.reactive.function.client.WebClientRequestException': isConnectionErrorOrTimeout,
  'org.springframework.cloud.client.loadbalancer.RetryableStatusCodeException': isNothing,
  'org.springframework.cloud.client.loadbalancer.reactive.RetryableStatusCodeException': isNothing,
}

export interface Exceptions {
  readonly test: ExceptionTest
  /** Classes that nothing here stands for. */
  readonly unknown: readonly string[]
}

/** Java class names; what is listed replaces the default whole. */
export function exceptionsOf(classes: readonly string[]): Exceptions {
  const tests = new Set(classes.flatMap((name) => (Object.hasOwn(CLASSES, name) ? (CLASSES[name] ?? []) : [])))
  return {
    test: (error) => [...tests].some((test) => test(error)),
    unknown: classes.filter((name) => !Object.hasOwn(CLASSES, name)),
  }
}
