/** @module Which of Ribbon's vectors are not replayed, and why. */

interface Fields {
  readonly id: string
  readonly properties?: Readonly<Record<string, number | boolean | string>>
  readonly phases?: readonly { readonly notReady?: readonly number[] }[]
  readonly zones?: readonly (string | null)[]
  readonly draws?: readonly unknown[]
  readonly marked?: unknown
  readonly maxRetryMillis?: number
  readonly handler?: string
  readonly error?: string
  readonly okToRetryOnConnectErrors?: boolean
  readonly okToRetryOnAllErrors?: boolean
  readonly maxSame?: number
  readonly ok?: readonly boolean[]
  readonly answers?: readonly unknown[]
  readonly host?: string
  readonly port?: number
}

interface Exception {
  readonly ids: RegExp
  /** Of these ids only the vectors that are so. */
  readonly where?: (vector: Fields) => boolean
  readonly reason: string
}

export const EXCEPTIONS: readonly Exception[] = [
  {
    ids: /^round-robin\//,
    where: ({ phases = [] }) => phases.some(({ notReady }) => notReady !== undefined),
    reason: 'an instance is alive or not: one that is being primed counts as not alive',
  },
  {
    ids: /^availability-filtering\/limit-/,
    where: ({ properties }) => properties?.['svc.ribbon.ActiveConnectionsLimit'] === 0,
    reason: 'a limit of 0, by which Ribbon leaves out everybody and then nobody, is refused',
  },
  {
    ids: /^zone-avoidance\/aware-/,
    where: ({ draws }) => draws !== undefined,
    reason: 'zones are drawn by a generator of ours',
  },
  {
    ids: /^zone-avoidance\/rule-/,
    where: ({ properties }) => properties?.['niws.loadbalancer.zoneAvoidanceRule.enabled'] === false,
    reason: 'zone avoidance that avoids no zone is availability filtering by another name',
  },
  {
    ids: /^server-stats\/blackout-011$/,
    reason: 'with a factor of 11 hours 32 bits overflow, and the breaker never trips again',
  },
  {
    ids: /^zone-filter\//,
    where: ({ properties = {} }) =>
      properties['@zone'] === undefined && properties['svc.ribbon.EnableZoneExclusivity'] === true,
    reason: 'without a zone of one’s own exclusivity has nothing to keep to; Ribbon leaves nobody',
  },
  {
    ids: /^zone-filter\//,
    where: ({ properties = {} }) => properties['@zone'] === 'unknown',
    reason: 'an own zone that is called “unknown” is that of servers without one',
  },
  {
    ids: /^zone-filter\//,
    where: ({ properties = {}, zones = [] }) =>
      properties['svc.ribbon.zoneAffinity.minAvailableServers'] === 0 &&
      !zones.some((zone) => zone?.toLowerCase() === String(properties['@zone']).toLowerCase()),
    reason:
      'affinity that asks for 0 servers leaves nobody where the own zone has nobody, which is what exclusivity is for',
  },
  {
    ids: /^server\//,
    where: ({ host = '-', port = 0 }) => host === '' || port < 0 || port > 65_535,
    reason: 'an address without a host, or with a port that does not exist, is refused',
  },
  {
    ids: /^server\//,
    where: ({ host = '' }) => host.includes('@'),
    reason: 'an address with a user is refused: nobody would tell the server',
  },
  {
    ids: /^best-available\/random-025$/,
    reason: 'who leaves the list with nothing in flight is forgotten; Ribbon keeps its statistics for 30 minutes',
  },
  {
    ids: /^zone-avoidance\/rule-/,
    where: ({ id, draws, zones = [] }) =>
      /-tripped-04[78]$/.test(id) ||
      (draws !== undefined && zones.some((zone) => zone === null || zone !== zone.toLowerCase())),
    reason:
      'servers without a zone are one more zone to Ribbon, which it never leaves out, nor one whose name has capitals',
  },
  {
    ids: /^random\/marked-/,
    reason: 'an instance is alive or not: nobody is up and marked as down',
  },
  {
    ids: /^retry-rule\/time-/,
    where: ({ maxRetryMillis = 1 }) => maxRetryMillis <= 0,
    reason: 'a time of 0 or less, which Ribbon takes for 500 ms, is refused',
  },
  {
    ids: /^retry-handler\/retries-/,
    where: ({ maxSame = 0 }) => maxSame < 0,
    reason: 'a negative number of retries is refused',
  },
  {
    ids: /^retry-handler\//,
    where: ({ handler = '', error = '' }) =>
      CLASSES_OF_ONE.some(([its, knows]) => its.test(error) && !knows.test(handler)),
    reason: 'the exceptions of another client than the handler’s: fetch has one error for it',
  },
  {
    ids: /^retry-handler\//,
    where: ({ handler, error = '' }) => handler !== 'Default' && /^ClientException</.test(error),
    reason: 'an error of the connection is looked for among the causes, whoever has wrapped it',
  },
  {
    ids: /^retry-handler\//,
    where: ({ error }) => error === 'ConnectionClosedException',
    reason: 'a body that ends too soon comes after an answer, which the call has had by then',
  },
  {
    ids: /^retry-handler\//,
    where: ({ error = '' }) => /^UnexpectedHttpResponseException 500|<ClientException SERVER_THROTTLED>$/.test(error),
    reason: 'a status is an answer and no exception, so it has no wrapper, and only 503 is a failure',
  },
  {
    ids: /^retry-handler\//,
    where: ({ error = '' }) => /^(Exception<){9}ConnectException>+$/.test(error),
    reason: 'what fetch throws has its reason within two causes; Ribbon looks ten deep',
  },
  {
    ids: /^retry-handler\/request-specific-/,
    where: ({ okToRetryOnConnectErrors, okToRetryOnAllErrors }) => !okToRetryOnConnectErrors && !okToRetryOnAllErrors,
    reason: 'flags that no client of Ribbon’s gives: nothing is retried but a 503',
  },
  {
    ids: /^command\//,
    where: ({ ok, answers = [] }) => ok?.[0] === false && String(answers[0]).endsWith('SERVER_THROTTLED'),
    reason: 'flags that no client of Ribbon’s gives: nothing is retried but a 503',
  },
  {
    ids: /^command\//,
    where: ({ answers }) => answers?.[0] === 'AbortExecutionException',
    reason: 'observers of a call can’t end it',
  },
  {
    ids: /^ping\/url-append-006$/,
    reason: 'a path without its slash gets one; Ribbon’s runs into the port, and is lost with it',
  },
]

/** Exceptions that one client throws, and the handlers that know them. */
const CLASSES_OF_ONE: readonly (readonly [classes: RegExp, handlers: RegExp])[] = [
  [/^(ConnectTimeout|NoHttpResponse|ConnectionPoolTimeout)Exception$/, /HttpClient/],
  [/^(ReadTimeoutException|PoolExhaustedException|UnexpectedHttpResponseException 503)$/, /^Netty$/],
  [/^netty\./, /^(Netty|Default)$/],
  [/^ClientException SERVER_THROTTLED$/, /^(Netty|.*HttpClient.*)$/],
]

export function exceptionOf(vector: { readonly id: string }): Exception | undefined {
  return EXCEPTIONS.find(({ ids, where = () => true }) => ids.test(vector.id) && where(vector))
}
