/** @module Addresses of instances, as Spring and Ribbon write them. */

import type { Reader } from './readers.js'

export interface Address {
  readonly host: string
  readonly port?: number
  readonly secure: boolean
}

const SCHEME_HOST_PORT = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/@?#]*@)?(\[[^\]]+\]|[^/:?#\s]+)(?::(\d*))?(?:[/?#].*)?$/i

/** Of a URI: scheme, host and port count, as in Spring; nothing else does. */
export function addressOf(text: string): (Address & { readonly scheme: string | undefined }) | undefined {
  const [, scheme, host, port] = SCHEME_HOST_PORT.exec(text) ?? []
  if (host === undefined || Number(port || 0) > 65_535) return undefined
  return {
    scheme: scheme?.toLowerCase(),
    host,
    ...(port && { port: Number(port) }),
    secure: scheme?.toLowerCase() === 'https',
  }
}

export const uri: Reader<Address> = {
  accepts: 'a URI with a host, such as http://10.0.0.1:8080',
  read: (text) => {
    const { scheme, ...address } = addressOf(text) ?? {}
    return scheme === undefined ? undefined : (address as Address)
  },
}
