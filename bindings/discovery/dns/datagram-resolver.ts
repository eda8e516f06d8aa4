/** @module Name servers asked over UDP, and over TCP what doesn't fit: for runtimes whose resolver tells too little. */

import { DiscoveryError } from '../../errors.js'
import { startTimer } from '../../runtime/host.js'
import { Buffer } from './buffer.js'
import { NOERROR, NXDOMAIN, rcodeError, resolverError } from './failures.js'
import { answerOf, type DnsType, type Resolve } from './records.js'
import { type ServerAddress, sameHost } from './server-address.js'
import { answers, decodeAnswer, encodeQuestion, isTruncated, rcodeOf, type WireAnswer } from './wire.js'

export interface Sockets {
  readonly dgram: typeof import('node:dgram')
  readonly net: typeof import('node:net')
}

/** Each server is asked twice; the second time it is waited for twice as long. Together that is the time limit. */
const TRY_SHARES = [1 / 3, 2 / 3]

/**
 * A resolver that goes by the response code, so that a failure is never taken for "nobody", and knows the TTL of SRV
 * records too.
 * @param limitMs for all servers together
 */
export function datagramResolver(sockets: Sockets, servers: readonly ServerAddress[], limitMs: number): Resolve {
  return async (name, type, signal) => {
    let failure: DiscoveryError | undefined
    let anySilent = true
    for (let turn = 0; turn < TRY_SHARES.length && anySilent; turn++) {
      // A server that answers says the same again.
      anySilent = false
      for (const server of servers) {
        const timeoutMs = (limitMs * (TRY_SHARES[turn] as number)) / servers.length
        try {
          const answer = await exchange(sockets, server, name, type, timeoutMs, signal)
          return answerOf(name, type, answer.records, answer.chainTtls)
        } catch (error) {
          if (signal.aborted) throw signal.reason
          failure = resolverError(name, type, error)
          anySilent ||= failure.failure === 'timeout'
        }
      }
    }
    throw failure
  }
}

async function exchange(
  sockets: Sockets,
  server: ServerAddress,
  name: string,
  type: DnsType,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<WireAnswer> {
  const id = crypto.getRandomValues(new Uint16Array(1))[0] as number
  const question = encodeQuestion(id, name, type)
  const limits = { signal, timeoutMs, what: `dns: ${type} ${name}: ${server.host}:${server.port}` }
  let message = await overUdp(sockets, server, question, limits)
  if (isTruncated(message)) message = await overTcp(sockets, server, question, limits)
  // A part of a list looks like a list.
  if (isTruncated(message)) throw new DiscoveryError(`dns: ${type} ${name}: truncated`, { failure: 'too-large' })
  const rcode = rcodeOf(message)
  if (rcode !== NOERROR && rcode !== NXDOMAIN) throw rcodeError(name, type, rcode)
  const answer = decoded(message, type, limits.what)
  return rcode === NOERROR ? answer : { ...answer, records: [] }
}

function decoded(message: Uint8Array, type: DnsType, what: string): WireAnswer {
  try {
    return decodeAnswer(message, type)
  } catch (cause) {
    throw new DiscoveryError(`${what} sent a message that can't be read`, { failure: 'malformed', cause })
  }
}

interface Limits {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly what: string
}

/** Runs `begin` until it settles, the signal aborts or the time is up; what it returns closes its socket. */
function limited<T>(
  limits: Limits,
  begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
) {
  const { signal, timeoutMs, what } = limits
  return new Promise<T>((resolve, reject) => {
    let close = () => {}
    const settle = (end: () => void) => {
      cancel()
      signal.removeEventListener('abort', onAbort)
      close()
      end()
    }
    const cancel = startTimer(() => {
      settle(() => reject(new DiscoveryError(`${what} gave no answer in time`, { failure: 'timeout' })))
    }, timeoutMs)
    const onAbort = () => settle(() => reject(signal.reason))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      close = begin(
        (value) => settle(() => resolve(value)),
        (error) => settle(() => reject(error)),
      )
    } catch (error) {
      settle(() => reject(error))
    }
  })
}

function overUdp({ dgram }: Sockets, server: ServerAddress, question: Uint8Array, limits: Limits): Promise<Uint8Array> {
  return limited(limits, (resolve, reject) => {
    const socket = dgram.createSocket(server.host.includes(':') ? 'udp6' : 'udp4')
    socket.on('error', reject)
    socket.on('message', (message, from) => {
      if (isFrom(server, from) && answers(message, question)) resolve(message)
    })
    socket.send(question, server.port, server.host, (error) => {
      if (error) reject(error)
    })
    let open = true
    return () => {
      if (open) socket.close()
      open = false
    }
  })
}

function isFrom(server: ServerAddress, from: { address: string; port: number }): boolean {
  return from.port === server.port && sameHost(from.address, server.host)
}

/** RFC 1035 §4.2.2: two octets of length before each message. */
function overTcp({ net }: Sockets, server: ServerAddress, question: Uint8Array, limits: Limits): Promise<Uint8Array> {
  return limited(limits, (resolve, reject) => {
    const socket = net.connect(server.port, server.host)
    let received = Buffer.alloc(0)
    socket.on('connect', () =>
      socket.write(new Uint8Array([question.length >> 8, question.length & 0xff, ...question])),
    )
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed before the answer was complete')))
    socket.on('data', (piece) => {
      received = Buffer.concat([received, piece as Uint8Array])
      if (received.length < 2) return
      const end = 2 + received.readUInt16BE(0)
      if (received.length < end) return
      const message = received.subarray(2, end)
      if (answers(message, question)) resolve(message)
      else reject(new DiscoveryError(`${limits.what} answered another question`, { failure: 'malformed' }))
    })
    return () => socket.destroy()
  })
}
