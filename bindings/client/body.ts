/** @module Bodies: whether one can be sent twice, and knowing when one has been read. */

import { isRequest } from './input.js'

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

/** Chromium gives these an empty body, with which no response of theirs can be made. */
const WITHOUT_BODY = [101, 204, 205, 304]

/** The same response, telling once how the reading of its body ended: to the end, by an error, or given up. */
export function whenRead(response: Response, ended: (end: BodyEnd) => void): Response {
  const { body } = response
  if (body === null || WITHOUT_BODY.includes(response.status)) {
    ended(undefined)
    return response
  }
  const reader = body.getReader()
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
        ended(undefined)
      } catch (error) {
        ended({ error })
        controller.error(error)
      }
    },
    async cancel(reason) {
      ended({ cancelled: true })
      await reader.cancel(reason)
    },
  })
  const copy = new Response(watched, response)
  for (const key of ['url', 'redirected', 'type'] as const) Object.defineProperty(copy, key, { value: response[key] })
  return copy
}
