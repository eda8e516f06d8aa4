/** @module Where a registry is, without the credentials that its URL may have. */

import { ConfigError } from '../../errors.js'
import { show } from '../../show.js'

export interface RegistryAddress {
  /** Scheme, host, port and path; no slash at its end, no credentials: it may be shown. */
  readonly base: string
  /** Of the credentials in the URL, which no `fetch` takes there. */
  readonly authorization: string | undefined
}

/**
 * Reads `http://user:password@host:port/path`.
 * @param option its name, for errors
 * @throws EVENKEEL_CONFIG, without the credentials
 */
export function registryAddress(given: string | URL, option: string): RegistryAddress {
  const refuse = (what: string): never => {
    const shown = show(
      String(given)
        .replace(/^([a-z]+:\/\/)?.*@/is, '$1…@')
        .replace(/[?#].*/, '?…'),
    )
    throw new ConfigError(`${option} must be an http or https URL ${what}, not ${shown}`, { option })
  }
  if (typeof given !== 'string' && !(given instanceof URL)) refuse('of the registry')
  if (!URL.canParse(given)) refuse('of the registry')
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse('of the registry')
  if (url.search !== '' || url.hash !== '') refuse('without query and fragment')
  return { base: url.origin + url.pathname.replace(/\/+$/, ''), authorization: authorizationOf(url) }
}

/** RFC 7617, in UTF-8. */
function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const bytes = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

/** A percent sign that encodes nothing is one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
