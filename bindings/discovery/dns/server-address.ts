/** @module The address of a name server, as `127.0.0.1:5353` or `[::1]:53`. */

import { isIpv4 } from './records.js'

export interface ServerAddress {
  readonly host: string
  readonly port: number
}

const DNS_PORT = 53

/** Undefined: it is no address. Names are none: who would resolve them? */
export function serverAddress(text: unknown): ServerAddress | undefined {
  if (typeof text !== 'string') return undefined
  const bracketed = /^\[([\da-f:.]+)\](?::(\d{1,5}))?$/i.exec(text)
  const plain = /^([\d.]+)(?::(\d{1,5}))?$/.exec(text)
  const [, host, portText] = bracketed ?? plain ?? [undefined, text, undefined]
  const port = portText === undefined ? DNS_PORT : Number(portText)
  if (port < 1 || port > 65_535) return undefined
  const isIpv6 = plain === null && /^[\da-f:.]+$/i.test(host as string) && URL.canParse(`http://[${host}]`)
  return isIpv6 || isIpv4(host as string) ? { host: host as string, port } : undefined
}

/** IPv6 addresses may be written in several ways. */
export function sameHost(one: string, other: string): boolean {
  return one === other || (one.includes(':') && other.includes(':') && plainIpv6(one) === plainIpv6(other))
}

function plainIpv6(host: string): string {
  return URL.canParse(`http://[${host}]`) ? new URL(`http://[${host}]`).hostname : host
}
