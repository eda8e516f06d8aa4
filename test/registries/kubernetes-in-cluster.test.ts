/** @module What a pod is given by its cluster: the address, the service account's files, the certificate authority. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type KubernetesDiscoveryOptions, kubernetesDiscovery } from '../../bindings/discovery/kubernetes/index.js'
import { FakeKubernetes } from './fakes/kubernetes.js'
import { inProcess } from './in-process.js'
import { errorOf, follow, idsOf, listed, pod, signal } from './kubernetes-setup.js'

let folder: string
let fake: FakeKubernetes
const time = { now: 0 }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-account-'))
  fake = new FakeKubernetes()
  time.now = 0
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.96.0.1')
  vi.stubEnv('KUBERNETES_SERVICE_PORT', '443')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  await rm(folder, { recursive: true })
})

const write = (name: string, text: string) => writeFile(join(folder, name), text)

function inCluster(options: KubernetesDiscoveryOptions = {}) {
  return kubernetesDiscovery({
    serviceAccountFolder: folder,
    fetch: inProcess(fake),
    clock: () => time.now,
    ...options,
  })
}

describe('in a cluster', () => {
  it('the address is that of the environment, IPv6 in brackets', () => {
    expect(inCluster().describe('orders').address).toBe('https://10.96.0.1')
    vi.stubEnv('KUBERNETES_SERVICE_HOST', 'fd00::1')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', '6443')
    expect(inCluster().describe('orders').address).toBe('https://[fd00::1]:6443')
  })

  it('outside of one the url is asked for', () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined)
    expect(() => kubernetesDiscovery()).toThrow(/url is needed outside a cluster/)
    vi.stubGlobal('process', undefined)
    expect(() => kubernetesDiscovery()).toThrow(/url is needed outside a cluster/)
  })

  it('namespace and token are those of the service account', async () => {
    await write('namespace', 'shop\n')
    await write('token', 'first\n')
    fake.tokens = ['first']
    fake.add('orders.shop', pod('a', 1))
    const client = inCluster()
    expect(idsOf(await listed(client))).toEqual(['a'])
    expect(client.describe('orders').namespace).toBe('shop')
    expect(await client.services({ signal: new AbortController().signal })).toEqual(['orders'])
  })

  it('the token is read again after a minute', async () => {
    await write('token', 'first')
    fake.tokens = ['first', 'second']
    const client = inCluster({ namespace: 'default' })
    await listed(client)
    await write('token', 'second')
    const sent = async () => {
      await listed(client)
      return fake.requests.at(-1)?.authorization
    }
    time.now = 59_999
    expect(await sent()).toBe('Bearer first')
    time.now = 60_000
    expect(await sent()).toBe('Bearer second')
  })

  it('the token is read again at once when it is refused, by a list or a watch', async () => {
    await write('token', 'first')
    fake.tokens = ['first']
    const client = inCluster({ namespace: 'default' })
    await listed(client)
    await write('token', 'second')
    fake.tokens = ['second']
    expect(await listed(client)).toEqual([])
    await write('token', 'third')
    fake.fault = ({ url }) => {
      if (url.includes('watch=true')) fake.tokens = ['third']
      return undefined
    }
    const heard = follow(client)
    while (fake.watches === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(heard.failures).toEqual([])
    heard.stop()
  })

  it('refused, and the file has no other: denied, and asked once', async () => {
    await write('token', 'first')
    fake.tokens = ['other']
    expect(await errorOf(listed(inCluster({ namespace: 'default' })))).toMatchObject({ failure: 'denied', status: 401 })
    expect(fake.requests).toHaveLength(1)
  })

  it('the old token is kept while the file can not be read', async () => {
    await write('token', 'first')
    fake.tokens = ['first']
    const client = inCluster({ namespace: 'default' })
    await listed(client)
    await rm(join(folder, 'token'))
    time.now = 120_000
    expect(await listed(client)).toEqual([])
  })

  it('files that are missing are named', async () => {
    const error = await errorOf(listed(inCluster()))
    expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    expect(error.message).toContain(`can't read ${folder}/namespace: ENOENT`)
    expect((await errorOf(listed(inCluster({ namespace: 'x' })))).message).toContain(`can't read ${folder}/token`)
    expect(await listed(inCluster({ namespace: 'x', token: 'mine' }))).toEqual([])
  })

  it('with a url no file is read, unless its folder is named', async () => {
    await write('token', 'first')
    const url = 'http://gateway.test'
    await listed(kubernetesDiscovery({ url, fetch: inProcess(fake) }))
    expect(fake.requests[0]?.authorization).toBe(null)
    await listed(inCluster({ url, namespace: 'default' }))
    expect(fake.requests[1]?.authorization).toBe('Bearer first')
  })

  it('Deno reads the files its own way', async () => {
    const paths: string[] = []
    const readTextFile = async (path: string) => {
      paths.push(path)
      return 'deno\n'
    }
    vi.stubGlobal('Deno', { readTextFile })
    await listed(inCluster())
    expect(fake.requests[0]).toMatchObject({
      path: '/apis/discovery.k8s.io/v1/namespaces/deno/endpointslices',
      authorization: 'Bearer deno',
    })
    expect(paths).toEqual([`${folder}/namespace`, `${folder}/token`])
  })
})

describe('the certificate authority of the cluster', () => {
  /** What `fetch` was given beside the request. */
  async function given(options: KubernetesDiscoveryOptions = {}) {
    const inits: Record<string, unknown>[] = []
    const send = inProcess(fake)
    vi.stubGlobal('fetch', (input: string, init: RequestInit) => {
      inits.push({ ...init })
      return send(input, init)
    })
    const client = kubernetesDiscovery({ serviceAccountFolder: folder, namespace: 'x', token: 't', ...options })
    await listed(client)
    await listed(client)
    await client.close()
    return inits[1]
  }

  it('is given to fetch on Bun', async () => {
    await write('ca.crt', 'PEM')
    vi.stubGlobal('Bun', {})
    expect(await given()).toMatchObject({ tls: { ca: 'PEM' } })
    expect(await given({ init: { tls: { ca: 'mine' } } })).toMatchObject({ tls: { ca: 'mine' } })
    expect(await given({ url: 'http://gateway.test' })).not.toHaveProperty('tls')
  })

  it('is given to fetch on Deno, as one client that is closed with ours', async () => {
    const made: { caCerts: string[]; closed: number }[] = []
    const createHttpClient = ({ caCerts }: { caCerts: string[] }) => {
      const client = { caCerts, closed: 0, close: () => void client.closed++ }
      made.push(client)
      return client
    }
    vi.stubGlobal('Deno', { readTextFile: async () => 'PEM', createHttpClient })
    expect((await given())?.client).toBe(made[0])
    expect(made).toMatchObject([{ caCerts: ['PEM'], closed: 1 }])
  })

  it('is one on Deno for requests that come at the same time', async () => {
    let open = 0
    const createHttpClient = () => {
      open++
      return { close: () => void open-- }
    }
    vi.stubGlobal('Deno', { readTextFile: async () => 'PEM', createHttpClient })
    vi.stubGlobal('fetch', async () => Response.json({ items: [], metadata: { resourceVersion: '1' } }))
    const client = kubernetesDiscovery({ url: 'https://api.test', serviceAccountFolder: '/account', namespace: 'shop' })
    await Promise.all(['orders', 'stock', 'users'].map((each) => client.get(each, { signal: signal() })))
    expect(open).toBe(1)
    await client.close()
    expect(open).toBe(0)
  })

  it('is not read on Node, whose fetch takes none', async () => {
    expect(await given()).toBeDefined()
  })
})
