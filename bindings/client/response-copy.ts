/** @module A response made again around another body or with another header: those of `fetch` can't be changed. */

/**
 * False for what only a server may give: an upgrade, an opaque answer, or a body that somebody has begun to read.
 * Chromium gives the statuses without a body an empty one, with which no response of theirs can be made.
 */
export function canBeCopied({ status, body }: Response): boolean {
  return status >= 200 && status <= 599 && body?.locked !== true
}

/** 204, 205 and 304 may have no body, not even an empty one. */
export function isWithoutBody({ status, body }: Response): boolean {
  return body === null || [204, 205, 304].includes(status)
}

export function copied(response: Response, body: BodyInit | null, headers: Headers = response.headers): Response {
  const { status, statusText } = response
  const copy = new Response(body, { status, statusText, headers })
  for (const key of ['url', 'redirected', 'type'] as const) Object.defineProperty(copy, key, { value: response[key] })
  return copy
}
