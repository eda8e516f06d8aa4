/** @module Keeps a caller at its instance: the answer carries a cookie that names it. */

import type { Quirks } from '../compat/quirks.js'
import { cookieOf, encodeCookieValue, setCookieText } from '../cookies.js'
import type { Stickiness } from '../supplier/sticky-session.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { canBeCopied, copied, isWithoutBody } from './response-copy.js'

/**
 * The response with a Set-Cookie for the instance, unless the request named it already. A response of `fetch` can't be
 * changed, so this is another one around the same body. In browsers scripts can't give a response that header, so there
 * the answer stays without.
 */
export function withSetCookie(
  response: Response,
  instance: ServiceInstance,
  request: PickRequest,
  { cookie, setCookie }: Stickiness,
  quirks: Quirks,
): Response {
  if (setCookie === false || !canBeCopied(response)) return response
  const { instanceId } = instance
  const named = cookieOf(request, cookie, quirks)
  if (named === instanceId || named === encodeCookieValue(instanceId)) return response
  const headers = new Headers(response.headers)
  headers.append('set-cookie', setCookieText(cookie, instanceId, setCookie))
  return copied(response, isWithoutBody(response) ? null : response.body, headers)
}
