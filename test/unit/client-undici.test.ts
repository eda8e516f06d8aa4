import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { attemptsOf, createLoadBalancer, isConnectionError, roundRobin } from '../../bindings/index.js'
import { type UndiciFetch, undiciFetch } from '../../bindings/transport/undici.js'

/**
 * Listens and accepts nobody: its loop stands still. The kernel makes connections until the queue is full and drops
 * what comes then, as a host does that is gone.
 */
const BLACK_HOLE = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`

const open: (ChildProcess | Socket | Server | UndiciFetch)[] = []

afterEach(async () => {
  for (const one of open.splice(0)) {
    if ('kill' in one) one.kill('SIGKILL')
    else if ('destroy' in one) one.destroy()
    else await one.close()
  }
})

async function blackHole(): Promise<string> {
  const child = spawn(process.execPath, ['-e', BLACK_HOLE], { stdio: ['ignore', 'pipe', 'inherit'] })
  open.push(child)
  const [port] = await once(child.stdout, 'data')
  // A few fit into the queue, the others knock in vain.
  const sockets = Array.from({ length: 16 }, () => connect(Number(port), '127.0.0.1'))
  open.push(...sockets)
  await Promise.all(sockets.slice(0, 2).map((socket) => once(socket, 'connect')))
  return `http://127.0.0.1:${port}`
}

async function echo(): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }))
  })
  open.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function transportOf(options?: Parameters<typeof undiciFetch>[0]): UndiciFetch {
  const transport = undiciFetch(options)
  open.unshift(transport)
  return transport
}

describe('undiciFetch', () => {
  it('gives up a connection that does not open in time, and the next instance is tried', async () => {
    const fetch = transportOf({ connectTimeoutMs: 150 })
    const instances = [await blackHole(), await echo()]
    const lb = createLoadBalancer({ fetch, services: { s: { instances, policy: roundRobin({ start: -1 }) } } })
    const startedAt = performance.now()
    const response = await lb.fetch('http://s/x')
    expect(await response.json()).toMatchObject({ method: 'GET', url: '/x' })
    const [first] = attemptsOf(response)
    expect(isConnectionError(first?.error)).toBe(true)
    expect(first?.error).toMatchObject({ cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } })
    expect(performance.now() - startedAt).toBeLessThan(2_000)
  })

  it('takes what fetch takes: texts, URLs and Requests, with forms and headers of the runtime', async () => {
    const fetch = transportOf({ connections: 2 })
    const at = await echo()
    const sent = async (input: string | URL | Request, init?: RequestInit) => (await fetch(input, init)).json()
    const form = new FormData()
    form.append('name', 'value')
    form.append('file', new Blob(['content']), 'file.txt')
    const { body } = await sent(at, { method: 'POST', body: form })
    for (const part of ['name="name"', 'value', 'filename="file.txt"', 'content']) expect(body).toContain(part)
    expect(await sent(new URL(`${at}/x`), { headers: new Headers({ 'x-own': '1' }) })).toMatchObject({
      url: '/x',
      headers: { 'x-own': '1' },
    })
    const request = new Request(`${at}/y`, { method: 'PUT', headers: { 'x-own': '2' }, body: 'text' })
    expect(await sent(request)).toMatchObject({ method: 'PUT', url: '/y', headers: { 'x-own': '2' }, body: 'text' })
    const again = new Request(`${at}/z`, { headers: { 'x-own': '2' } })
    expect(await sent(again, { method: 'DELETE' })).toMatchObject({ method: 'DELETE', headers: { 'x-own': '2' } })
  })

  it('is aborted by the caller’s signal', async () => {
    const fetch = transportOf()
    await expect(fetch(await echo(), { signal: AbortSignal.abort() })).rejects.toThrow('abort')
  })

  it('refuses calls once it is closed, however often', async () => {
    const fetch = transportOf()
    const at = await echo()
    await (await fetch(at)).text()
    await Promise.all([fetch.close(), fetch.close()])
    await expect(fetch(at)).rejects.toThrow('fetch failed')
  })

  it.each([
    [{ connectTimeoutMs: 0 }, 'undiciFetch.connectTimeoutMs'],
    [{ connections: 1.5 }, 'undiciFetch.connections'],
    [{ bodyTimeoutMs: '1s' }, 'undiciFetch.bodyTimeoutMs'],
    [{ connectTimeout: 5 }, 'undiciFetch.connectTimeout'],
  ])('refuses %j', (options, option) => {
    expect(() => undiciFetch(options as never)).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option }))
  })
})
