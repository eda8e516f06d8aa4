/** @module Bodies: whether one can be sent twice, and knowing when one has been read. */

import { isRequest } from './input.js'
import { whenAborted } from './interruption.js'
import { canBeCopied, copied, isWithoutBody } from './response-copy.js'

/**
 * True if sending `input` again sends the same bytes: no body, or one that is held in memory. A stream is read once.
 */
export function isReplayable(input: string | URL | Request, init: RequestInit | undefined): boolean {
  const body = init?.body
  if (body !== undefined && body !== null) return isHeld(body)
  return !isRequest(input) || input.body === null || input.body === undefined
}

function isHeld(body: BodyInit): boolean {
  return (
    typeof body === 'string' ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body) ||
    body instanceof URLSearchParams ||
    (typeof Blob !== 'undefined' && body instanceof Blob) ||
    (typeof FormData !== 'undefined' && body instanceof FormData)
  )
}

export type BodyEnd = { error: unknown } | { cancelled: true } | undefined

/** Knows nothing of its body: a signal that outlives a body nobody reads must not keep it, nor its connection. */
function endOnce(signal: AbortSignal | undefined, ended: (end: BodyEnd) => void): (end: BodyEnd) => void {
  let isOver = false
  let stop: (() => void) | undefined
  const end = (how: BodyEnd) => {
    if (isOver) return
    isOver = true
    stop?.()
    ended(how)
  }
  if (signal !== undefined) stop = whenAborted(signal, () => end({ cancelled: true }))
  return end
}

/**
 * The same response, telling once how the reading of its body ended: to the end, by an error, given up, or aborted.
 * A response that can't be made again (no body, or a status that only a server may give) has ended at once.
 */
export function whenRead(response: Response, signal: AbortSignal | undefined, ended: (end: BodyEnd) => void): Response {
  const { body } = response
  if (body === null || isWithoutBody(response) || !canBeCopied(response)) {
    ended(undefined)
    return response
  }
  const end = endOnce(signal, ended)
  const reader = body.getReader()
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
        end(undefined)
      } catch (error) {
        end({ error })
        controller.error(error)
      }
    },
    async cancel(reason) {
      end({ cancelled: true })
      await reader.cancel(reason)
    },
  }
  return copied(response, new ReadableStream(source, { highWaterMark: 0 }))
}
