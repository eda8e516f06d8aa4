/**
 * @module The URL that SCLB makes of its parts: Spring's UriComponentsBuilder over java.net.URI, for the quirk
 * `uri-double-encode`. A URL whose escapes are not all right by Spring's strict check counts as not encoded at all, and
 * then every `%` of it is escaped once more.
 */

/** What has been decided already, and the user info as it was. */
export interface Authority {
  readonly scheme: string
  readonly user: string | undefined
  readonly host: string
  readonly port: number
}

interface Parts {
  user: string | undefined
  path: string
  query: string | undefined
  fragment: string | undefined
}

/** @param rest path, query and fragment as written */
export function springUrl({ scheme, user, host, port }: Authority, rest: string): string {
  const [, rawPath = '', rawQuery, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(rest) ?? []
  const pairs = pairsOf(rawQuery ?? '')
  // UriComponents' FullPathComponent writes runs of slashes as one.
  const parts: Parts = { user, path: rawPath.replace(/\/{2,}/g, '/'), query: queryOf(pairs), fragment }
  const escaped = [rawPath, rawQuery, fragment].some((part) => part?.includes('%'))
  const written = escaped && isStrict(parts, pairs) ? parts : quoted(parts)
  return [
    `${scheme}://`,
    written.user === undefined ? '' : `${written.user}@`,
    `${host}:${port}`,
    written.path,
    written.query === undefined ? '' : `?${written.query}`,
    written.fragment === undefined ? '' : `#${written.fragment}`,
  ].join('')
}

/** Values by name, in the order of the names' first appearance; null: no `=`. */
type Pairs = ReadonlyMap<string, readonly (string | null)[]>

/** UriComponentsBuilder.query: pairs without a name are lost. */
function pairsOf(query: string): Pairs {
  const pairs = new Map<string, (string | null)[]>()
  for (const [, name = '', equals, value] of query.matchAll(/([^&=]+)(=?)([^&]+)?/g)) {
    const values = pairs.get(name) ?? []
    pairs.set(name, values)
    values.push(value ?? (equals === '' ? null : ''))
  }
  return pairs
}

/** Values of one name stand together, wherever they stood before. */
function queryOf(pairs: Pairs): string | undefined {
  if (pairs.size === 0) return undefined
  return [...pairs]
    .flatMap(([name, values]) => values.map((value) => (value === null ? name : `${name}=${value}`)))
    .join('&')
}

/** RFC 3986: pchar, or an escape. */
const PCHAR = String.raw`[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2}`
const STRICT_USER = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:]|%[0-9A-Fa-f]{2})*$/
const STRICT_PATH = new RegExp(`^(?:${PCHAR}|/)*$`)
const STRICT_FRAGMENT = new RegExp(`^(?:${PCHAR}|[/?])*$`)
/** As a fragment, but for `=`; no `&` can be left. */
const STRICT_PARAMETER = /^(?:[A-Za-z0-9\-._~!$'()*+,;:@/?]|%[0-9A-Fa-f]{2})*$/

/** HierarchicalUriComponents.verify: every component is encoded, to the last character. */
function isStrict({ user = '', path, fragment = '' }: Parts, pairs: Pairs): boolean {
  return (
    STRICT_USER.test(user) &&
    STRICT_PATH.test(path) &&
    STRICT_FRAGMENT.test(fragment) &&
    [...pairs].every(([name, values]) => [name, ...values].every((text) => STRICT_PARAMETER.test(text ?? '')))
  )
}

/** What the constructor of java.net.URI leaves as it is in each part, RFC 2396; beyond ASCII it leaves what shows. */
const LEGAL = {
  user: /[A-Za-z0-9\-_.!~*'();:&=+$,]/,
  path: /[A-Za-z0-9\-_.!~*'():@&=+$,;/]/,
  uric: /[A-Za-z0-9\-_.!~*'();/?:@&=+$,[\]]/,
}
const SHOWS_NOTHING = /[\p{Zs}\p{Zl}\p{Zp}\u0080-\u009f]/u

function quoted({ user, path, query, fragment }: Parts): Parts {
  return {
    user: user === undefined ? undefined : quote(user, LEGAL.user),
    path: quote(path, LEGAL.path),
    query: query === undefined ? undefined : quote(query, LEGAL.uric),
    fragment: fragment === undefined ? undefined : quote(fragment, LEGAL.uric),
  }
}

function quote(text: string, legal: RegExp): string {
  let written = ''
  for (const character of text) {
    const stays = character < '\u0080' ? legal.test(character) : !SHOWS_NOTHING.test(character)
    written += stays ? character : escaped(character)
  }
  return written
}

function escaped(character: string): string {
  const bytes = new TextEncoder().encode(character.normalize('NFC'))
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
