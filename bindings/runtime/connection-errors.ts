/** @module Which errors of `fetch` mean that no answer came over the connection: one row a runtime, seen on each. */

interface Signature {
  /** `code` of the error, or of its cause. */
  readonly codes?: readonly string[]
  /** Message of the error, or of its cause, where a runtime gives no code. */
  readonly message?: RegExp
}

const SIGNATURES: Record<string, Signature> = {
  /** Node, edge VMs: undici's TypeError "fetch failed" with the reason as its cause. */
  node: {
    codes: [
      'ECONNREFUSED',
      'ECONNRESET',
      'ECONNABORTED',
      'EPIPE',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'EHOSTDOWN',
      'ENETDOWN',
      'EADDRNOTAVAIL',
      'ENOTFOUND',
      'EAI_AGAIN',
      'UND_ERR_SOCKET',
      'UND_ERR_CONNECT_TIMEOUT',
      'UND_ERR_HEADERS_TIMEOUT',
    ],
  },
  /** Bun 1.4 has Node's codes; earlier versions had these. */
  bun: {
    codes: ['ConnectionRefused', 'ConnectionReset', 'ConnectionClosed', 'ConnectionTimeout', 'FailedToOpenSocket'],
  },
  /** Deno: hyper's words, as the cause since 2.x, as the message before. */
  deno: {
    message:
      /client error \(Connect\)|connection closed before message completed|connection error|\(os error (?:32|10[34]|11[0-3])\)/,
  },
  /** Workers: one message for all of it, and its own for a name that does not resolve. */
  workerd: { message: /^Network connection lost\.?$|^internal error; reference = / },
  /** Chromium, Firefox, Safari: a bare TypeError, the same for a CORS refusal. */
  browser: { message: /^Failed to fetch$|^NetworkError when attempting to fetch resource\.$|^Load failed$/ },
}

const CODES = new Set(Object.values(SIGNATURES).flatMap(({ codes = [] }) => codes))
const MESSAGES = Object.values(SIGNATURES).flatMap(({ message }) => message ?? [])

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
  let cause: unknown = error
  for (let depth = 0; depth < 3 && typeof cause === 'object' && cause !== null; depth++) {
    const { code, message, cause: next } = cause as { code?: unknown; message?: unknown; cause?: unknown }
    if (typeof code === 'string' && CODES.has(code)) return true
    if (typeof message === 'string' && MESSAGES.some((pattern) => pattern.test(message))) return true
    cause = next
  }
  return false
}

/** Of whichever realm. */
function isTypeError(error: unknown): error is TypeError {
  return (error as TypeError | undefined)?.name === 'TypeError'
}
