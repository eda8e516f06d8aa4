/** @module A served fake as a registry of the common cases. */

import type { DiscoveryClient, Registrar } from '../../bindings/index.js'
import type { FakeRegistry, Pauses, TestRegistry } from './registry.js'
import { RegistryServer } from './serve.js'

export interface FakeSetup {
  name: string
  boundMs: number
  pauses?: Pauses
  /** Called once, and again for one that does not remember when it has ended. */
  fake(): FakeRegistry
  /** Whether who was added is still there after the server was gone. */
  remembers: boolean
  client(url: string): DiscoveryClient & Partial<Registrar>
}

export async function fakeTestRegistry(setup: FakeSetup): Promise<TestRegistry> {
  let fake = setup.fake()
  const server = new RegistryServer({ fetch: (request) => fake.fetch(request) })
  const end = async () => {
    await server.kill()
    server.resume()
    if (setup.remembers) return
    fake.close()
    fake = setup.fake()
  }
  return {
    name: setup.name,
    boundMs: setup.boundMs,
    ...(setup.pauses && { pauses: setup.pauses }),
    remembers: setup.remembers,
    start: () => server.start(),
    stop: end,
    kill: end,
    hang: async () => server.hang(),
    resume: async () => server.resume(),
    add: async (serviceId, entry) => fake.add(serviceId, entry),
    remove: async (serviceId, instanceId) => fake.remove(serviceId, instanceId),
    listed: async (serviceId) => fake.listed(serviceId),
    client: () => setup.client(server.url),
    async dispose() {
      await server.kill()
      fake.close()
    },
  }
}
