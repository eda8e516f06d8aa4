/** @module Spring's Eureka server as a registry of the common cases. */

import { eurekaDiscovery } from '../../../bindings/discovery/eureka/index.js'
import type { Entry, TestRegistry } from '../registry.js'
import { renewing } from '../renewing.js'
import { ANSWER_KEPT_MS, EurekaServer } from './eureka-jar.js'

const INTERVAL_MS = 500
/** So long without a heartbeat, and twice that, and the next sweep: nothing expires during a case. */
const LEASE_SECONDS = 3_600

export async function eurekaRegistry(): Promise<TestRegistry> {
  const server = await EurekaServer.make()
  const tell = async (method: string, path: string, body?: unknown) => {
    const answer = await server.ask(method, path, body)
    await answer.arrayBuffer()
    // Who is to be removed may be gone with the server's memory.
    if (!answer.ok && !(method === 'DELETE' && answer.status === 404)) {
      throw new Error(`eureka: ${method} ${path} answered ${answer.status}`)
    }
  }
  return {
    name: 'eureka',
    boundMs: ANSWER_KEPT_MS + INTERVAL_MS,
    remembers: false,
    start: () => server.start(),
    stop: () => server.stop(),
    kill: () => server.kill(),
    hang: async () => server.hang(),
    resume: async () => server.resume(),
    add: (serviceId, entry) => tell('POST', `/apps/${serviceId}`, { instance: informationOf(serviceId, entry) }),
    remove: (serviceId, instanceId) => tell('DELETE', `/apps/${serviceId}/${instanceId}`),
    async listed(serviceId) {
      const answer = await server.ask('GET', `/apps/${serviceId}`)
      if (answer.status === 404) return []
      const { application } = (await answer.json()) as {
        application: { instance: { instanceId: string; status: string }[] }
      }
      const up = application.instance.filter(({ status }) => status === 'UP')
      return up.map(({ instanceId }) => instanceId).sort()
    },
    client: () =>
      renewing(eurekaDiscovery({ url: server.url, registryFetchIntervalMs: INTERVAL_MS, requestTimeoutMs: 1_000 }), {
        renewalIntervalMs: 1_000,
        leaseDurationMs: 5_000,
      }),
    dispose: () => server.kill(),
  }
}

/** As a client of another language would write it. */
function informationOf(serviceId: string, { instanceId, host, port, secure = false, zone, weight, metadata }: Entry) {
  return {
    instanceId,
    app: serviceId.toUpperCase(),
    hostName: host,
    ipAddr: host,
    vipAddress: serviceId,
    secureVipAddress: serviceId,
    status: 'UP',
    port: { $: secure ? 80 : port, '@enabled': String(!secure) },
    securePort: { $: secure ? port : 443, '@enabled': String(secure) },
    dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
    leaseInfo: { renewalIntervalInSecs: 30, durationInSecs: LEASE_SECONDS },
    metadata: {
      ...metadata,
      ...(zone !== undefined && { zone }),
      ...(weight !== undefined && { weight: String(weight) }),
    },
  }
}
