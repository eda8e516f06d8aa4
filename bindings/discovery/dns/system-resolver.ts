/** @module The runtime's own way to name servers. Nothing is imported, so that bundles for browsers stay whole. */

import { ConfigError } from '../../errors.js'
import { isWorkers } from '../../runtime/host.js'
import { datagramResolver } from './datagram-resolver.js'
import { type DenoDns, denoResolver } from './deno-resolver.js'
import { nodeDnsResolver } from './node-resolver.js'
import type { Resolve } from './records.js'
import { type ServerAddress, serverAddress } from './server-address.js'

interface Globals {
  process?: { getBuiltinModule?: (id: string) => unknown }
  Deno?: DenoDns & {
    permissions: { querySync(wanted: { name: string; kind?: string; host?: string }): { state: string } }
  }
}

/** @throws EVENKEEL_CONFIG where the runtime resolves no names, or can't be told which servers to ask */
export function systemResolver(
  servers: readonly string[] | undefined,
  limitMs: number,
): { resolve: Resolve; name: string } {
  const { process, Deno } = globalThis as unknown as Globals
  const module = <T>(id: string) => process?.getBuiltinModule?.(id) as T | undefined
  const dns = module<typeof import('node:dns')>('node:dns')
  if (Deno !== undefined) {
    const told = servers ?? denoServers(Deno, dns)
    const addresses = told?.map(serverAddress).filter((each): each is ServerAddress => each !== undefined) ?? []
    const dgram = module<typeof import('node:dgram')>('node:dgram')
    const net = module<typeof import('node:net')>('node:net')
    if (addresses.length > 0 && dgram !== undefined && net !== undefined && addresses.every(maySpeakTo(Deno))) {
      return { resolve: datagramResolver({ dgram, net }, addresses, limitMs), name: 'name servers over UDP' }
    }
    return { resolve: denoResolver(Deno, servers === undefined ? [] : addresses, limitMs), name: 'Deno.resolveDns' }
  }
  if (dns === undefined) {
    throw new ConfigError(
      'dnsDiscovery.resolver must be { doh: url } or a function: this runtime does not resolve names',
      { option: 'dnsDiscovery.resolver' },
    )
  }
  if (servers !== undefined && isWorkers()) {
    throw new ConfigError('dnsDiscovery.servers can not be chosen on Workers: give resolver: { doh: url }', {
      option: 'dnsDiscovery.servers',
    })
  }
  return { resolve: nodeDnsResolver(dns, servers, limitMs), name: 'node:dns' }
}

/** The system's; undefined without the permission, which is not asked for. */
function denoServers(deno: NonNullable<Globals['Deno']>, dns: typeof import('node:dns') | undefined) {
  const { state } = deno.permissions.querySync({ name: 'sys', kind: 'networkInterfaces' })
  if (state !== 'granted' || dns === undefined) return undefined
  return [...new Set(dns.getServers())]
}

/** To bind a UDP socket takes a permission too; without it the attempt would end the process. */
function maySpeakTo({ permissions }: NonNullable<Globals['Deno']>): (server: ServerAddress) => boolean {
  const may = (host: string) => permissions.querySync({ name: 'net', host }).state === 'granted'
  return ({ host, port }) =>
    host.includes(':') ? may('[::]:0') && may(`[${host}]:${port}`) : may('0.0.0.0:0') && may(`${host}:${port}`)
}
