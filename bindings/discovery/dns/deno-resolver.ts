/** @module Deno.resolveDns: no TTL, and one error for a missing name and for a name server that failed. */

import { ambiguous, resolverError } from './failures.js'
import { answerOf, type Resolve } from './records.js'
import type { ServerAddress } from './server-address.js'

export interface DenoDns {
  resolveDns(
    name: string,
    type: string,
    options: { nameServer?: { ipAddr: string; port: number }; signal?: AbortSignal },
  ): Promise<readonly unknown[]>
}

/**
 * With the system's name servers, where their addresses can't be had; or with some, of which the first that answers
 * counts.
 * @param limitMs for all servers together
 */
export function denoResolver(deno: DenoDns, servers: readonly ServerAddress[], limitMs: number): Resolve {
  return async (name, type, signal) => {
    let failure: unknown
    for (const server of servers.length > 0 ? servers : [undefined]) {
      const limit = AbortSignal.timeout(Math.ceil(limitMs / Math.max(servers.length, 1)))
      try {
        const rows = await deno.resolveDns(`${name}.`, type, {
          signal: AbortSignal.any([signal, limit]),
          ...(server && { nameServer: { ipAddr: server.host, port: server.port } }),
        })
        return answerOf(name, type, type === 'SRV' ? rows : rows.map((address) => ({ address })))
      } catch (error) {
        if (signal.aborted) throw signal.reason
        failure = isNotFound(error) ? ambiguous(name, type, error, ADVICE) : resolverError(name, type, error)
      }
    }
    throw failure
  }
}

const ADVICE =
  'give resolver: { doh: url }, or --allow-net (for all hosts) with servers or --allow-sys=networkInterfaces'

function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === 'NotFound'
}
