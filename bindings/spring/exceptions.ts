/** @module Java's exception classes as predicates over what `fetch` throws. */

import { isConnectionError } from '../index.js'

export type ExceptionTest = (error: unknown) => boolean

/** By its code, which is the same in every entry of the package. */
const isTimeout: ExceptionTest = (error) =>
  typeof error === 'object' && error !== null && (error as { code?: unknown }).code === 'EVENKEEL_TIMEOUT'

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
  'java.io.EOFException': isConnectionError,
  'java.net.SocketException': isConnectionError,
  'java.net.ConnectException': isConnectionError,
  'java.net.NoRouteToHostException': isConnectionError,
  'java.net.PortUnreachableException': isConnectionError,
  'java.net.UnknownHostException': isConnectionError,
  'java.nio.channels.ClosedChannelException': isConnectionError,
  'java.nio.channels.UnresolvedAddressException': isConnectionError,
  'java.net.SocketTimeoutException': isTimeout,
  'java.net.http.HttpTimeoutException': isTimeout,
  'java.net.http.HttpConnectTimeoutException': isTimeout,
  'java.util.concurrent.TimeoutException': isTimeout,
  'io.netty.handler.timeout.TimeoutException': isTimeout,
  'io.netty.handler.timeout.ReadTimeoutException': isTimeout,
  'io.netty.handler.timeout.WriteTimeoutException': isTimeout,
  'io.netty.channel.ConnectTimeoutException': isConnectionErrorOrTimeout,
  'reactor.netty.http.client.PrematureCloseException': isConnectionError,
  'org.apache.http.NoHttpResponseException': isConnectionError,
  'org.apache.http.conn.HttpHostConnectException': isConnectionError,
  'org.apache.http.conn.ConnectTimeoutException': isConnectionErrorOrTimeout,
  'org.apache.hc.core5.http.NoHttpResponseException': isConnectionError,
  'org.apache.hc.client5.http.HttpHostConnectException': isConnectionError,
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
