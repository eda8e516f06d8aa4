/** @module Which errors of `fetch` mean that no answer came over the connection: one row a runtime, seen on each. */

/**
 * How the connection failed. refused, unresolved, unreachable, connect-timeout: it could not be made, so nothing was
 * sent; reset: it was, and broke; closed: it ended in good order, but without an answer; read-timeout: no answer came in
 * time; unknown: the runtime does not say. pool-timeout is the client's own: no connection was free, which says nothing
 * of the instance.
 */
export type ConnectionFailure =
  | 'refused'
  | 'unresolved'
  | 'unreachable'
  | 'connect-timeout'
  | 'reset'
  | 'closed'
  | 'read-timeout'
  | 'pool-timeout'
  | 'unknown'

interface Signature {
  readonly kind: ConnectionFailure
  /** `code` of the error, or of its cause. */
  readonly codes?: readonly string[]
  /** Message of the error, or of its cause, where a runtime gives no code. The first of a runtime that fits counts. */
  readonly message?: RegExp
}

const SIGNATURES: Record<string, readonly Signature[]> = {
  /** Node, edge VMs: undici's TypeError "fetch failed" with the reason as its cause. */
  node: [
    { kind: 'refused', codes: ['ECONNREFUSED'] },
    { kind: 'unresolved', codes: ['ENOTFOUND', 'EAI_AGAIN'] },
    { kind: 'unreachable', codes: ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL'] },
    { kind: 'connect-timeout', codes: ['UND_ERR_CONNECT_TIMEOUT'] },
    { kind: 'reset', codes: ['ECONNRESET', 'ECONNABORTED', 'EPIPE'] },
    { kind: 'closed', codes: ['UND_ERR_SOCKET'] },
    { kind: 'read-timeout', codes: ['UND_ERR_HEADERS_TIMEOUT', 'ETIMEDOUT'] },
    { kind: 'pool-timeout', codes: ['UND_ERR_BPL_MISSING_UPSTREAM'] },
  ],
  /** Bun 1.4 has Node's codes; earlier versions had these. */
  bun: [
    { kind: 'refused', codes: ['ConnectionRefused', 'FailedToOpenSocket'] },
    { kind: 'reset', codes: ['ConnectionReset'] },
    { kind: 'closed', codes: ['ConnectionClosed'] },
    { kind: 'read-timeout', codes: ['ConnectionTimeout'] },
  ],
  /** Deno: hyper's words, as the cause since 2.x, as the message before. */
  deno: [
    { kind: 'unresolved', message: /client error \(Connect\).*\bdns error/ },
    { kind: 'connect-timeout', message: /client error \(Connect\).*\(os error 110\)/ },
    { kind: 'unreachable', message: /\(os error 11[23]\)/ },
    { kind: 'refused', message: /client error \(Connect\)|\(os error 111\)/ },
    { kind: 'read-timeout', message: /\(os error 110\)/ },
    { kind: 'reset', message: /\(os error (?:32|10[34])\)/ },
    { kind: 'closed', message: /connection closed before message completed|connection error/ },
  ],
  /** Workers: one message for all of it, and its own for a name that does not resolve. */
  workerd: [{ kind: 'unknown', message: /^Network connection lost\.?$|^internal error; reference = / }],
  /** Chromium, Firefox, Safari: a bare TypeError, the same for a CORS refusal. */
  browser: [
    {
      kind: 'unknown',
      message: /^Failed to fetch$|^NetworkError when attempting to fetch resource\.$|^Load failed$/,
    },
  ],
}

const ALL = Object.values(SIGNATURES).flat()
const KINDS = new Map(ALL.flatMap(({ kind, codes = [] }) => codes.map((code) => [code, kind])))
const MESSAGES = ALL.flatMap(({ kind, message }) => (message === undefined ? [] : [{ kind, message }]))

/** True if the call was refused before anything was sent: an invalid header, a body with GET, a URL that is none. */
export function isBadArgument(error: unknown): boolean {
  if (!isTypeError(error) || isConnectionError(error)) return false
  return error.cause === undefined || isTypeError(error.cause)
}

/**
 * True if `error`, its cause, or its cause's cause says that the connection failed, so that another instance may be
 * tried. A bad argument (an invalid header, an unknown scheme) is none.
 */
export function isConnectionError(error: unknown): boolean {
  const kind = connectionFailureOf(error)
  return kind !== undefined && kind !== 'pool-timeout'
}

/** How the connection failed, by the error, its cause, or its cause's cause; undefined: it did not. */
export function connectionFailureOf(error: unknown): ConnectionFailure | undefined {
  let cause: unknown = error
  for (let depth = 0; depth < 3 && typeof cause === 'object' && cause !== null; depth++) {
    const { code, message, cause: next } = cause as Record<string, unknown>
    const kind = typeof code === 'string' ? KINDS.get(code) : undefined
    if (kind !== undefined) return atStep(kind, cause as SystemError)
    if (typeof message === 'string') {
      const known = MESSAGES.find((each) => each.message.test(message))
      if (known !== undefined) return known.kind
    }
    cause = next
  }
  return undefined
}

/** Whether nothing can have been sent. */
export function isUnconnected(kind: ConnectionFailure): boolean {
  return kind === 'refused' || kind === 'unresolved' || kind === 'unreachable' || kind === 'connect-timeout'
}

/** What Node's errors say beside their code. */
interface SystemError {
  readonly syscall?: unknown
  /** Of an address each, where a name has several. */
  readonly errors?: readonly SystemError[]
}

/** One code means another thing while connecting than on a connection that is made. */
function atStep(kind: ConnectionFailure, { syscall, errors }: SystemError): ConnectionFailure {
  const step = syscall ?? errors?.[0]?.syscall
  if (step === 'connect') return kind === 'read-timeout' ? 'connect-timeout' : isBroken(kind) ? 'refused' : kind
  if (step !== 'read' && step !== 'write') return kind
  return kind === 'connect-timeout' ? 'read-timeout' : isUnconnected(kind) ? 'reset' : kind
}

function isBroken(kind: ConnectionFailure): boolean {
  return kind === 'reset' || kind === 'closed'
}

/** Of whichever realm. */
function isTypeError(error: unknown): error is TypeError {
  return (error as TypeError | undefined)?.name === 'TypeError'
}
