/** @module dnsmasq on loopback as a registry: SRV records whose targets have A or AAAA records. */

import { promises as dns } from 'node:dns'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dnsDiscovery } from '../../../bindings/discovery/dns/index.js'
import type { Entry, TestRegistry } from '../registry.js'
import { freePort, ServerProcess } from './server-process.js'
import { programOf } from './tools.js'

const START_MS = 5_000
const LOOK_MS = 5

/**
 * DNS has no instance ids: a client sees `address:port`. Entries are told to dnsmasq by its configuration, which it
 * reads when it starts: each change starts it anew, within a few ms. Call `start` first, and `dispose` at the end.
 * @throws Error if there is no dnsmasq
 */
export async function dnsmasqRegistry(): Promise<TestRegistry> {
  const command = programOf('dnsmasq')
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-dnsmasq-'))
  const file = join(folder, 'dnsmasq.conf')
  const port = await freePort()
  const services = new Map<string, Map<string, Entry>>()
  const server = new ServerProcess({
    command,
    args: ['--keep-in-foreground', `--conf-file=${file}`, '--log-facility=-'],
    isUp: () => answers(port),
    startMs: START_MS,
    lookMs: LOOK_MS,
  })
  let isHung = false

  async function start(): Promise<void> {
    await writeFile(file, configuration(port, services))
    await server.start()
  }

  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    isHung = false
    await server.end(signal)
  }

  async function changed(): Promise<void> {
    if (!server.isRunning) return
    const wasHung = isHung
    await end('SIGKILL')
    await start()
    if (wasHung) hang()
  }

  function hang(): void {
    isHung = true
    server.hang()
  }

  return {
    name: 'dnsmasq',
    // A TTL of 1 s and a tenth of it. A question that meets dnsmasq while it is started anew fails, and is asked again
    // after 1 to 3 s.
    boundMs: 4_500,
    remembers: true,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async hang() {
      hang()
    },
    async resume() {
      isHung = false
      server.resume()
    },
    async add(serviceId, entry) {
      const entries = services.get(serviceId) ?? new Map<string, Entry>()
      services.set(serviceId, entries.set(entry.instanceId, entry))
      await changed()
    },
    async remove(serviceId, instanceId) {
      services.get(serviceId)?.delete(instanceId)
      await changed()
    },
    client: () =>
      dnsDiscovery({
        name: '_http._tcp.{service}.lan',
        resolveTargets: 'A+AAAA',
        servers: [`127.0.0.1:${port}`],
        minTtlMs: 1_000,
        maxTtlMs: 1_000,
        srvIntervalMs: 1_000,
        requestTimeoutMs: 1_000,
      }),
    async dispose() {
      await end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Each host is a target of its own name: SRV targets are names, not addresses. */
function configuration(port: number, services: ReadonlyMap<string, ReadonlyMap<string, Entry>>): string {
  const lines = [
    `port=${port}`,
    'listen-address=127.0.0.1',
    'bind-interfaces',
    'no-resolv',
    'no-hosts',
    'local=/lan/',
    'local-ttl=1',
    // Empty: neither is used.
    'pid-file=',
    'user=',
    'host-record=ready.lan,127.0.0.1',
  ]
  const hosts = new Set<string>()
  for (const [serviceId, entries] of services) {
    for (const { host, port: entryPort, weight = 0 } of entries.values()) {
      hosts.add(host)
      lines.push(`srv-host=_http._tcp.${serviceId}.lan,${targetOf(host)},${entryPort},0,${Math.round(weight)}`)
    }
  }
  for (const host of hosts) lines.push(`host-record=${targetOf(host)},${host}`)
  return `${lines.join('\n')}\n`
}

function targetOf(host: string): string {
  return `host-${host.replaceAll(/[.:]/g, '-')}.lan`
}

async function answers(port: number): Promise<boolean> {
  const resolver = new dns.Resolver({ timeout: 50, tries: 1 })
  resolver.setServers([`127.0.0.1:${port}`])
  return (await resolver.resolve4('ready.lan')).length > 0
}
