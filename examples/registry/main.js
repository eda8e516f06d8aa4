/** A service that registers itself, calls itself by its name, tells why the call went there, and ends gracefully. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { createLoadBalancer } from 'evenkeel'
import { consulDiscovery } from 'evenkeel/consul'
import { etcdDiscovery } from 'evenkeel/etcd'
import { eurekaDiscovery } from 'evenkeel/eureka'

const clients = {
  consul: (url = 'http://127.0.0.1:8500') => consulDiscovery({ url }),
  etcd: (url = 'http://127.0.0.1:2379') => etcdDiscovery({ url, prefix: 'services/{serviceId}/' }),
  eureka: (url = 'http://127.0.0.1:8761/eureka') => eurekaDiscovery({ url, registryFetchIntervalMs: 5_000 }),
}
const { REGISTRY, REGISTRY_URL } = process.env
const [name = REGISTRY ?? '', url = REGISTRY_URL] = process.argv.slice(2)
if (!Object.hasOwn(clients, name)) {
  console.error(`usage: npm start -- ${Object.keys(clients).join('|')} [url]`)
  process.exit(2)
}
const registry = clients[name](url)

// Listens first: whoever is listed is called.
let inFlight = 0
const server = createServer((request, response) => {
  inFlight++
  response.once('close', () => inFlight--)
  response.end(`hello from ${process.pid}, asked for ${request.url}`)
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const { address: host, port } = server.address()

const registration = registry.register(
  { serviceId: 'hello', host, port },
  { failed: (error) => console.error(`not registered yet: ${error.message}`) },
)
const lb = createLoadBalancer({ discovery: registry })
try {
  await registration.ready({ timeoutMs: 10_000 })
  console.log(`registered ${registration.instanceId}`)

  // What the registry answers may be from a cache, and of a moment ago.
  const hello = lb.service('hello')
  const isListed = async () => (await hello.explain()).candidates.some((each) => each.port === port)
  while (!(await isListed())) await new Promise((changed) => hello.on('change', changed))

  console.log(await (await lb.fetch('http://hello/greeting')).text())
  const { source, layers, candidates } = await hello.explain()
  console.log({ source, layers, candidates: candidates.map(({ instanceId }) => instanceId) })
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  // Callers of Consul and etcd hear of it within 1 s; those of Eureka after a minute, which this does not wait for.
  await registration
    .shutdown({ propagationMs: 1_000, drainMs: 5_000, inFlight: () => inFlight })
    .then(() => console.log('deregistered'))
    .catch((error) => console.error(`left to expire: ${error.message}`))
  await lb.close()
  server.close()
  server.closeAllConnections()
}
