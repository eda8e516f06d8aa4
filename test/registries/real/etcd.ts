/** @module The real etcd as a registry of the common cases. */

import { etcdDiscovery } from '../../../bindings/discovery/etcd/index.js'
import type { Entry, TestRegistry } from '../registry.js'
import { EtcdServer } from './etcd-server.js'

/** @throws from `start`, if there is no etcd on this machine */
export async function etcdRegistry(): Promise<TestRegistry> {
  const server = await EtcdServer.make()
  const tell = async (path: string, body: Record<string, unknown>) => {
    const answer = await server.ask(path, body)
    if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`)
  }
  const keyOf = (serviceId: string, instanceId: string) => base64(`${serviceId}/${instanceId}`)
  return {
    name: 'etcd',
    boundMs: 1_000,
    remembers: true,
    start: () => server.start(),
    stop: () => server.stop(),
    kill: () => server.kill(),
    hang: async () => server.hang(),
    resume: async () => server.resume(),
    add: (serviceId, entry) => {
      return tell('/v3/kv/put', { key: keyOf(serviceId, entry.instanceId), value: base64(namingValue(entry)) })
    },
    remove: (serviceId, instanceId) => tell('/v3/kv/deleterange', { key: keyOf(serviceId, instanceId) }),
    client: () =>
      etcdDiscovery({ url: server.url, requestTimeoutMs: 1_000, checkIntervalMs: 2_000, leaseTtlMs: 2_000 }),
    dispose: () => server.dispose(),
  }
}

/** As Go's naming package writes it. */
function namingValue({ host, port, secure, zone, weight, metadata }: Entry): string {
  const Metadata = {
    ...metadata,
    ...(zone !== undefined && { zone }),
    ...(weight !== undefined && { weight }),
    ...(secure && { secure: true }),
  }
  return JSON.stringify({ Op: 0, Addr: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, Metadata })
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
