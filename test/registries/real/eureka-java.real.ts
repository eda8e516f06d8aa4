/** @module What Spring's own Eureka client registers, as this library's client sees it; and the other way round. */

import { afterAll, beforeAll, expect, it } from 'vitest'
import { eurekaDiscovery } from '../../../bindings/discovery/eureka/index.js'
import { Caller } from '../cases/caller.js'
import { EurekaServer, JavaRegistrant } from './eureka-jar.js'
import { freePort } from './server-process.js'

const INTERVAL_MS = 500
const START_MS = 240_000
let server: EurekaServer
beforeAll(async () => {
  server = await EurekaServer.make()
  await server.start()
}, START_MS)
afterAll(() => server?.kill())

it('a Java service is listed as it registered itself, and gone when it has stopped', {
  timeout: START_MS,
}, async () => {
  const port = await freePort()
  const java = new JavaRegistrant(server, 'java-orders', port, { zone: 'z1', weight: '3' })
  await using caller = new Caller(
    eurekaDiscovery({ url: server.url, registryFetchIntervalMs: INTERVAL_MS }),
    'java-orders',
    { emptyList: 'trust' },
  )
  try {
    await java.start()
    await caller.lists([{ address: `127.0.0.1:${port}` }], 30_000)
    const [instance] = caller.service.instances()
    expect(instance).toMatchObject({ host: '127.0.0.1', port, secure: false, serviceId: 'java-orders' })
    expect(instance?.metadata).toMatchObject({ zone: 'z1', weight: '3', status: 'UP', 'management.port': String(port) })
  } finally {
    await java.stop()
  }
  await caller.lists([], INTERVAL_MS + 1_000)
  expect(caller.told).toEqual([])
})
