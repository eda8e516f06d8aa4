/** @module A body of one JSON value a line, which may go on for ever. */

import { DiscoveryError } from '../../errors.js'
import { startTimer } from '../../runtime/host.js'
import { messageOf } from '../message-of.js'

export interface JsonLinesOptions {
  /** In characters; a longer line is no value. */
  readonly maxLineLength: number
  /** So long nothing came at all: the connection is dead. */
  readonly idleMs: number
  /** Where it comes from, for errors. */
  readonly from: string
}

/**
 * The values, as they come; ends when the body does. A line that is cut at the body's end is malformed. Who stops
 * reading closes the connection.
 * @throws EVENKEEL_DISCOVERY: malformed, too-large, unreachable, timeout
 */
export async function* jsonLines(body: ReadableStream<Uint8Array>, options: JsonLinesOptions): AsyncGenerator<unknown> {
  const { maxLineLength, from } = options
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // Of a line that has not ended: put together once, or a long one would be copied with each piece of it.
  let pieces: string[] = []
  let length = 0
  const take = (piece: string) => {
    pieces.push(piece)
    length += piece.length
    if (length <= maxLineLength) return
    throw new DiscoveryError(`${from} sent a line of more than ${maxLineLength} characters`, { failure: 'too-large' })
  }
  const taken = () => {
    const line = pieces.join('').trim()
    pieces = []
    length = 0
    return line
  }
  try {
    for (;;) {
      const bytes = await read(reader, options)
      const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        take(text.slice(start, end))
        start = end + 1
        const line = taken()
        if (line !== '') yield parsed(line, from)
      }
      if (start < text.length) take(text.slice(start))
      if (bytes !== undefined) continue
      const line = taken()
      if (line !== '') yield parsed(line, from)
      return
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { idleMs, from }: JsonLinesOptions,
): Promise<Uint8Array | undefined> {
  let cancel = () => {}
  const silent = new Promise<never>((_, reject) => {
    cancel = startTimer(() => {
      reject(new DiscoveryError(`${from} was silent for ${idleMs} ms`, { failure: 'timeout' }))
    }, idleMs)
  })
  try {
    const { value, done } = await Promise.race([reader.read(), silent])
    return done ? undefined : value
  } catch (error) {
    if (error instanceof DiscoveryError) throw error
    throw new DiscoveryError(`${from} broke off: ${messageOf(error)}`, { failure: 'unreachable', cause: error })
  } finally {
    cancel()
  }
}

function parsed(line: string, from: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new DiscoveryError(`${from} sent a line that is no JSON`, { failure: 'malformed', cause })
  }
}
