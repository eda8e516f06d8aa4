/** @module Where an instance is asked whether it is alive. */

import type { ServiceInstance } from '../types/instance.js'

export interface CheckUrlOptions {
  /** With a query if need be. */
  readonly path: string
  /** Instead of the instance's own. */
  readonly port: number | undefined
  /** SCLB's: an IPv6 address without brackets, which is no URL. */
  readonly unbracketed: boolean
}

/**
 * SCLB's DefaultServiceInstance.createUri with the check's path: the scheme by `secure` alone, and for a port of 0 or
 * none the scheme's. An instance that is only a binding goes by the name of its service.
 */
export function checkUrl(instance: ServiceInstance, options: CheckUrlOptions): string {
  const { secure, serviceId } = instance
  const host = instance.host === '' ? serviceId : instance.host
  const given = options.port ?? instance.port
  const port = given > 0 ? given : secure ? 443 : 80
  const authority = host.includes(':') && !options.unbracketed ? `[${host}]` : host
  const slash = options.path.startsWith('/') ? '' : '/'
  return `${secure ? 'https' : 'http'}://${authority}:${port}${slash}${options.path}`
}
