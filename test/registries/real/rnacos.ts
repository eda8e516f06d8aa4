/** @module r-nacos, a server of its own that speaks Nacos' HTTP API v1, as a registry of the common cases. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nacosDiscovery } from '../../../bindings/discovery/nacos/index.js'
import type { Entry, TestRegistry } from '../registry.js'
import { freePorts, ServerProcess } from './server-process.js'
import { programOf } from './tools.js'

const POLL_MS = 1_000
const START_LIMIT_MS = 20_000

/** @param options `auth`: takes requests of the user `admin` with password `admin` only, whose tokens last a minute */
export interface RnacosOptions {
  auth?: boolean
}

/** @throws what is missing, where r-nacos is not installed */
export async function rnacosRegistry({ auth = false }: RnacosOptions = {}): Promise<TestRegistry & { url: string }> {
  const command = programOf('rnacos')
  const [http, grpc, console] = await freePorts(3)
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-rnacos-'))
  const url = `http://127.0.0.1:${http}`
  const env = {
    RUST_LOG: 'error',
    RNACOS_HTTP_PORT: String(http),
    RNACOS_GRPC_PORT: String(grpc),
    RNACOS_HTTP_CONSOLE_PORT: String(console),
    RNACOS_SDK_HOST: '127.0.0.1',
    RNACOS_CONSOLE_HOST: '127.0.0.1',
    RNACOS_DATA_DIR: folder,
    ...(auth && { RNACOS_ENABLE_OPEN_API_AUTH: 'true', RNACOS_API_LOGIN_TIMEOUT: '60' }),
  }
  const server = new ServerProcess({
    command,
    args: [],
    env,
    // It takes requests before it knows its own users.
    async isUp() {
      const response = await (auth ? login(url) : fetch(`${url}/nacos/v1/ns/operator/metrics`))
      await response.arrayBuffer()
      return response.ok
    },
    startMs: START_LIMIT_MS,
  })
  /** Who was added, with where it is: the registry knows instances by that. */
  const places = new Map<string, URLSearchParams>()
  const beats = new Map<string, ReturnType<typeof setInterval>>()

  const ask = async (method: string, params: URLSearchParams, path = '') => {
    const response = await fetch(`${url}/nacos/v1/ns/instance${path}?${params}`, {
      method,
      ...(auth && { headers: { authorization: `Bearer ${await tokenOf(url)}` } }),
    })
    if (!response.ok) throw new Error(`r-nacos: ${method} answered ${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
  }

  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    forget()
    await server.end(signal)
  }

  const forget = () => {
    for (const beat of beats.values()) clearInterval(beat)
    beats.clear()
    places.clear()
  }

  return {
    name: 'r-nacos',
    url,
    boundMs: POLL_MS + 500,
    // Of ephemeral instances it keeps nothing on its disk.
    remembers: false,
    start: () => server.start(),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async hang() {
      server.hang()
    },
    async resume() {
      server.resume()
    },
    async add(serviceId, entry) {
      const params = paramsOf(serviceId, entry)
      const key = `${serviceId} ${entry.instanceId}`
      await ask('POST', params)
      places.set(key, params)
      const beat = setInterval(() => void ask('PUT', lightOf(params), '/beat').catch(() => {}), 5_000)
      clearInterval(beats.get(key))
      beats.set(key, beat.unref())
    },
    async remove(serviceId, instanceId) {
      const key = `${serviceId} ${instanceId}`
      const params = places.get(key)
      clearInterval(beats.get(key))
      beats.delete(key)
      places.delete(key)
      if (params !== undefined) await ask('DELETE', lightOf(params))
    },
    client: () =>
      nacosDiscovery({
        url,
        pollMs: POLL_MS,
        requestTimeoutMs: 1_000,
        ...(auth && { username: 'admin', password: 'admin' }),
      }),
    async dispose() {
      await end('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function login(url: string): Promise<Response> {
  const body = new URLSearchParams({ username: 'admin', password: 'admin' })
  return fetch(`${url}/nacos/v1/auth/login`, { method: 'POST', body })
}

async function tokenOf(url: string): Promise<string> {
  return ((await (await login(url)).json()) as { accessToken: string }).accessToken
}

function paramsOf(serviceId: string, entry: Entry): URLSearchParams {
  const { host, port, weight = 1, zone, secure, metadata = {} } = entry
  const own = { ...metadata, ...(zone !== undefined && { zone }), ...(secure && { secure: 'true' }) }
  return new URLSearchParams({
    serviceName: serviceId,
    groupName: 'DEFAULT_GROUP',
    ip: host,
    port: String(port),
    ephemeral: 'true',
    weight: String(weight),
    enabled: 'true',
    metadata: JSON.stringify(own),
  })
}

/** Only what says who it is. */
function lightOf(params: URLSearchParams): URLSearchParams {
  const light = new URLSearchParams(params)
  for (const name of ['weight', 'enabled', 'metadata']) light.delete(name)
  return light
}
