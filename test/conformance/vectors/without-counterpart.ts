/** @module Which vectors are not replayed, and why. */

export interface Vector {
  readonly id: string
  /** The first release line that answers otherwise: such a vector is of an older SCLB than 5.0. */
  readonly until?: string
}

interface Exception {
  readonly ids: RegExp
  /** Of these ids only the vectors that are so. */
  readonly where?: (vector: Fields) => boolean
  readonly reason: string
}

/** What the conditions look at, of any topic. */
interface Fields {
  readonly suppliers: readonly string[]
  readonly instance: {
    readonly instanceId?: string
    readonly host: string
    readonly port: number
    readonly scheme?: string
  }
  readonly headers?: Readonly<Record<string, readonly string[]>>
  readonly cookieName?: string
  readonly spec?: string
  readonly port?: number
  readonly maxSame: number
  readonly maxNext: number
  readonly error?: string
}

const isOutermost = ({ suppliers }: Fields) => suppliers.indexOf('retry-aware') === suppliers.length - 1
const asksRequests = (name: string) =>
  ['hint', 'request-based-sticky-session', 'same-instance-preference'].includes(name)

/** What SCLB can be told and evenkeel can't. */
const NOTHING_TO_ASK: readonly Exception[] = [
  {
    ids: /^subset\/bad-size-001$/,
    reason: 'a size of 0 is refused when the supplier is made, even if the list has nobody',
  },
  {
    ids: /^subset\/environment-01[1-6]$/,
    reason: 'of a Spring file, a value with a placeholder that nothing defines is not read, and warned of',
  },
  { ids: /^zone\/case-003$/, reason: 'an empty zone is refused' },
  {
    ids: /^hint\/default-009$/,
    reason: 'a request without any context: here there is none that could not have had a hint',
  },
  {
    ids: /^hint\/header-and-property-/,
    where: ({ headers }) => Object.values(headers ?? {}).some(([value]) => /^ +\S/.test(value ?? '')),
    reason: 'the value of a header neither begins nor ends with white space (Fetch standard, normalize)',
  },
  { ids: /^sticky\/cookie-014$/, reason: 'an empty instance id is refused' },
  {
    ids: /^(sticky|transformers)\//,
    where: ({ cookieName }) => cookieName?.trim() === '',
    reason: 'a cookie without a name is refused',
  },
  {
    ids: /^transformers\//,
    where: ({ instance }) => instance.instanceId === undefined,
    reason: 'an instance always has an id: by default its address',
  },
  { ids: /^same-instance\/twins-/, reason: 'a list has an instance id once' },
  {
    ids: /^(retry-aware|chain)\//,
    where: (vector) => vector.suppliers.includes('retry-aware') && !isOutermost(vector),
    reason: 'retry-aware is always the outermost',
  },
  {
    ids: /^chain\//,
    where: ({ suppliers }) => suppliers.slice(0, Math.max(0, suppliers.indexOf('caching'))).some(asksRequests),
    reason: 'the cache is always the innermost: it never keeps what a request has narrowed',
  },
  { ids: /^uri\/original-(109|110)$/, reason: 'a URL without an authority names no service' },
  {
    ids: /^uri\//,
    where: ({ instance: { port } }) => port < -1 || port > 65_535,
    reason: 'a port is from 0 to 65535, or −1 for none',
  },
  { ids: /^health-url\/port-/, where: ({ port }) => port === -1, reason: 'as above' },
  {
    ids: /^uri\//,
    where: ({ instance: { scheme = '' } }) => scheme !== scheme.toLowerCase(),
    reason: 'the scheme of an instance is written in lower case',
  },
  {
    ids: /^uri\//,
    where: ({ instance: { host }, error }) => host === '' && error === undefined,
    reason: 'an instance has a host',
  },
  {
    ids: /^(uri|health-url)\/host-/,
    where: ({ instance: { host }, error }) => error !== undefined && /^(my_host|häst|1\.2\.3)$/.test(host),
    reason: 'host names that java.net.URI can’t hold and URLs can',
  },
  {
    ids: /^uri\/host-/,
    where: ({ instance: { host }, error }) => error !== undefined && /^\w*:/.test(host),
    reason: 'java.net.URI again, of IPv6 addresses beside user info or escapes: here they always have brackets',
  },
  {
    ids: /^api-version\/no-resolver-/,
    reason: 'without a place to look in, a header is the default; SCLB can’t do without a property',
  },
  {
    ids: /^api-version\/default-reactive-/,
    reason:
      'a context without HTTP data: here it is a request without headers, for which the blocking client is followed',
  },
  {
    ids: /^api-version\/(query|path|order)-blocking-/,
    reason: 'the blocking client doesn’t decode queries and never finds a path segment; the reactive one is followed',
  },
  {
    ids: /^caching\/rewrite-/,
    reason: 'Caffeine itself, which takes two writes within a second for one',
  },
  {
    ids: /^caching\/spec-/,
    where: ({ spec = '' }) => !spec.includes('expireAfterWrite'),
    reason: 'a specification by which a list lives for ever is not taken over: fromSpring warns of it',
  },
  {
    ids: /^caching\/default-00[12]$/,
    reason: 'a time to live of 0: for ever in SCLB’s built-in cache, not at all in Caffeine, which is followed',
  },
  {
    ids: /^health-check\/discovery-fails-/,
    reason: 'an error of its delegate ends SCLB’s stream for good; its own suppliers of lists never fail',
  },
  {
    ids: /^binding\/(relaxed-023|placeholder-002)$/,
    reason: 'a value with a placeholder that nothing defines is not read, and warned of',
  },
  {
    ids: /^binding\/(duration-0(06|07|11|13|27)|integer-011|double-00[459])$/,
    reason:
      'Spring reads what SCLB can’t use: an interval of less than 1 ms or of 2^63 − 1, a port of −1, a jitter beyond 0 to 1',
  },
  {
    ids: /^binding\/(duration-018|collection-0(05|09|14)|api-version-01[678])$/,
    reason:
      'read nevertheless: white space around a duration, gaps in lists, unknown exceptions, media types of a client',
  },
  {
    ids: /^binding\/overlay-001$/,
    reason: 'the properties object of a client says that it retries, although SCLB then does not',
  },
  {
    ids: /^binding\/overlay-005$/,
    reason: 'cache.ttl beside a specification that replaces it',
  },
  { ids: /^binding\/env-/, reason: 'environment variables are what placeholders name; they are no configuration' },
  {
    ids: /^retry-policy\//,
    where: ({ maxSame, maxNext }) => maxSame < 0 || maxNext < 0,
    reason: 'retries less than none are refused',
  },
  { ids: /^retry-policy\/method-007$/, reason: 'the method “get”, which fetch makes GET of' },
]

/** What `compat: 'spring'` does not follow, and no quirk is named for. */
const NOT_FOLLOWED: readonly Exception[] = [
  {
    ids: /^uri\/own-02[12]$|^health-url\/host-003$/,
    reason:
      'a registry’s “[::1]” is kept as ::1, so that its health check can’t tell it from “::1”, which SCLB fails to ask',
  },
  {
    ids: /^health-url\/path-0(27|28|33|34|39|40)$/,
    reason: 'the path of a check is a URI template to WebClient: a % is escaped once more, slashes are merged',
  },
  {
    ids: /^api-version\/(path-reactive-0(03|04|11|12|13|16)|order-reactive-002)$/,
    reason: 'a path that is too short for its segment fails the pick, and hides the places that come after it',
  },
  {
    ids: /^api-version\/media-type-00[56]$/,
    reason: 'a version in quotation marks is unreadable',
  },
  {
    ids: /^api-version\/media-type-(022|023|reactive-001)$/,
    reason: 'an Accept or Content-Type that is none fails the pick',
  },
  {
    ids: /^health-check\/(options-0(03|04|07|08|11|12|15|16)|random-0(04|10|11|21|22|27|30|34|35|36|38|40|42))$/,
    reason:
      'with refetching, every list begins a round, and what was published stays until that has answers; here only another list does, and who is not in it is gone at once',
  },
  {
    ids: /^retry\//,
    where: ({ error }) => error?.includes('RetryableStatusCodeException') === true,
    reason: 'the reactive client makes an error of some last responses with a retryable status',
  },
]

export const EXCEPTIONS: readonly Exception[] = [...NOTHING_TO_ASK, ...NOT_FOLLOWED]

export function replayable<V extends Vector>(vectors: readonly V[]): V[] {
  return vectors.filter((vector) => vector.until === undefined && exceptionOf(vector) === undefined)
}

export function exceptionOf(vector: Vector): Exception | undefined {
  const fields = vector as Vector & Fields
  return EXCEPTIONS.find(({ ids, where = () => true }) => ids.test(vector.id) && where(fields))
}
