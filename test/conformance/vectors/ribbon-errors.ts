/** @module What stands for the exceptions that Ribbon's handlers know: the errors of fetch that say the same. */

import type { RetryFailure } from 'evenkeel'

const failed = (code: string, syscall?: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code, ...(syscall && { syscall }) }) })

/** Undici's; each runtime's own are held against these in connection-errors.ts. */
const CONNECTION: Readonly<Record<string, () => Error>> = {
  ConnectException: () => failed('ECONNREFUSED', 'connect'),
  HttpHostConnectException: () => failed('ECONNREFUSED', 'connect'),
  NoRouteToHostException: () => failed('EHOSTUNREACH', 'connect'),
  BindException: () => failed('EADDRNOTAVAIL', 'connect'),
  SocketException: () => failed('ECONNRESET', 'read'),
  SocketTimeoutException: () => failed('UND_ERR_HEADERS_TIMEOUT'),
  ReadTimeoutException: () => failed('UND_ERR_HEADERS_TIMEOUT'),
  ConnectTimeoutException: () => failed('UND_ERR_CONNECT_TIMEOUT'),
  'netty.ConnectTimeoutException': () => failed('UND_ERR_CONNECT_TIMEOUT'),
  UnknownHostException: () => failed('ENOTFOUND'),
  NoHttpResponseException: () => failed('UND_ERR_SOCKET'),
  ConnectionPoolTimeoutException: () => failed('UND_ERR_BPL_MISSING_UPSTREAM'),
  PoolExhaustedException: () => failed('UND_ERR_BPL_MISSING_UPSTREAM'),
}

const STATUSES: Readonly<Record<string, number>> = {
  'ClientException SERVER_THROTTLED': 503,
  'UnexpectedHttpResponseException 503': 503,
}

/** `A<B>`: caused by. What is no failure of the connection is just an error, whatever its class. */
export function failureAs(java: string): Pick<RetryFailure, 'error' | 'status'> {
  const status = STATUSES[java]
  return status === undefined ? { error: errorAs(java) } : { status }
}

function errorAs(java: string): Error {
  const known = CONNECTION[java]
  if (known !== undefined) return Object.assign(known(), { name: 'TypeError' })
  const [, name = java, cause] = /^([^<]+)<(.*)>$/.exec(java) ?? []
  return new Error(name, cause === undefined ? undefined : { cause: errorAs(cause) })
}
