/** @module A served fake as a registry of the common cases. */

import type { DiscoveryClient, Registrar } from '../../bindings/index.js'
import type { FakeRegistry, TestRegistry } from './registry.js'
import { RegistryServer } from './serve.js'

export interface FakeSetup {
  name: string
  boundMs: number
  fake: FakeRegistry
  /** Whether who was added is still there after the server was gone; who does not remember is made anew by `reset`. */
  remembers: boolean
  /** Forgets what a registry without a disk forgets when it ends. */
  reset?(): void
  client(url: string): DiscoveryClient & Partial<Registrar>
}

export async function fakeTestRegistry(setup: FakeSetup): Promise<TestRegistry> {
  const { fake } = setup
  const server = new RegistryServer(fake)
  const end = async () => {
    await server.kill()
    server.resume()
    if (!setup.remembers) setup.reset?.()
  }
  return {
    name: setup.name,
    boundMs: setup.boundMs,
    remembers: setup.remembers,
    start: () => server.start(),
    stop: end,
    kill: end,
    hang: async () => server.hang(),
    resume: async () => server.resume(),
    add: async (serviceId, entry) => fake.add(serviceId, entry),
    remove: async (serviceId, instanceId) => fake.remove(serviceId, instanceId),
    client: () => setup.client(server.url),
    async dispose() {
      fake.close()
      await server.kill()
    },
  }
}
