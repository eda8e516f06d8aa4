import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FakeConsul } from '../registries/fakes/consul.js'
import { FakeEtcd } from '../registries/fakes/etcd.js'
import { EurekaFake } from '../registries/fakes/eureka.js'
import { RegistryServer } from '../registries/serve.js'
import { type Consumer, consumerOf, freePort, type Origin, startOrigin } from './consumer.js'

let origins: Origin[] = []
beforeAll(async () => {
  origins = await Promise.all(['one', 'two', 'three'].map(startOrigin))
})
afterAll(() => Promise.all(origins.map((origin) => origin.close())))

/** An installation while the other tests run. */
const SETUP_MS = 60_000

interface Answer {
  name: string
  method: string
  target: string
  body: string
}

describe('examples/worker, run by workerd', () => {
  let worker: Consumer
  let url: string
  beforeAll(async () => {
    worker = await consumerOf('worker')
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const config = join(worker.folder, 'config.capnp')
    await writeFile(config, (await readFile(config, 'utf8')).replace(':8787', `:${port}`))
    const [one, two, three] = origins.map((origin) => origin.url)
    const ORIGINS = JSON.stringify([one, two, { url: three, hint: 'canary' }])
    await worker.start(['npm', 'start'], { ORIGINS }, url)
  }, SETUP_MS)
  afterAll(() => worker?.stop())

  it('spreads requests over the origins', async () => {
    const names = new Set<string>()
    for (let i = 0; i < 30; i++) names.add(((await (await fetch(`${url}/a%2Fb?x=${i}`)).json()) as Answer).name)
    expect(names).toEqual(new Set(['one', 'two', 'three']))
  })

  it('sends the path, the method and the body on as they are', async () => {
    const answer = await (await fetch(`${url}/a%2Fb//c?x=%7C&y=a+b`, { method: 'POST', body: 'hello' })).json()
    expect(answer).toMatchObject({ method: 'POST', target: '/a%2Fb//c?x=%7C&y=a+b', body: 'hello' })
  })

  it('follows the hint header, and explains it', async () => {
    const headers = { 'x-version': 'canary' }
    for (let i = 0; i < 10; i++) expect(await (await fetch(url, { headers })).json()).toMatchObject({ name: 'three' })
    const { layers } = (await (await fetch(`${url}/_explain`, { headers })).json()) as { layers: unknown[] }
    expect(layers.at(-1)).toMatchObject({ name: 'hint', in: 3, out: 1 })
  })
})

describe('examples/deno', () => {
  let service: Consumer
  let url: string
  beforeAll(async () => {
    service = await consumerOf('deno')
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const [one, two] = origins.map((origin) => origin.url)
    // The third origin refuses connections: its share is retried on another.
    const ORIGINS = [one, two, `http://127.0.0.1:${await freePort()}`].join(',')
    await service.start(['deno', 'task', 'start'], { ORIGINS, PORT: String(port), NO_COLOR: '1' }, url)
  }, SETUP_MS)
  afterAll(() => service?.stop())

  it('answers every request, from whichever origin is up', async () => {
    const names = new Set<string>()
    for (let i = 0; i < 100; i++) {
      const response = await fetch(`${url}/x?i=${i}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-served-by')).toMatch(/^127\.0\.0\.1:\d+$/)
      names.add(((await response.json()) as Answer).name)
    }
    expect(names).toEqual(new Set(['one', 'two']))
  })

  it('counts what it did', async () => {
    const { origin } = (await (await fetch(`${url}/_stats`)).json()) as {
      origin: { instances: { inFlight: number; picks: number }[]; retriesNext: number }
    }
    expect(origin.instances.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0])
    expect(origin.retriesNext).toBeGreaterThan(0)
  })
})

describe('examples/registry', () => {
  let service: Consumer
  beforeAll(async () => {
    service = await consumerOf('registry')
  }, SETUP_MS)
  afterAll(() => service?.stop())

  it.each([
    ['consul', '', () => new FakeConsul()],
    ['etcd', '', () => new FakeEtcd()],
    ['eureka', '/eureka', () => new EurekaFake()],
  ] as const)('registers in %s, calls itself by its name, and is gone when it has ended', async (name, path, make) => {
    const fake = make()
    const server = new RegistryServer(fake)
    await server.start()
    try {
      const output = await service.run(['npm', 'start', '--silent', '--', name, `${server.url}${path}`])
      const [, id = ''] = /^registered (127\.0\.0\.1:\d+)$/m.exec(output) ?? []
      expect(output).toMatch(/^hello from \d+, asked for \/greeting$/m)
      expect(output).toContain(`candidates: [ '${id}' ]`)
      expect(output).toMatch(/^deregistered$/m)
      expect(fake.listed('hello')).toEqual([])
    } finally {
      await server.kill()
      fake.close()
    }
  })

  it('says how it is used', async () => {
    await expect(service.run(['npm', 'start', '--silent', '--', 'zookeeper'])).rejects.toThrow('consul|etcd|eureka')
  })
})
