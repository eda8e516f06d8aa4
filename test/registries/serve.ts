/** @module A fake registry as an HTTP server on loopback that can be stopped, killed, hung and started again. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { FakeRegistry } from './registry.js'

export class RegistryServer {
  readonly #fake: Pick<FakeRegistry, 'fetch'>
  #server: Server | undefined
  #port = 0
  #resumed: Promise<void> | undefined
  #resume = () => {}

  constructor(fake: Pick<FakeRegistry, 'fetch'>) {
    this.#fake = fake
  }

  /** Of the first start on always the same. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response))
    server.keepAliveTimeout = 0
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Connections and all, at once. */
  async kill(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  /** Takes requests and answers none. */
  hang(): void {
    this.#resumed ??= new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  resume(): void {
    this.#resumed = undefined
    this.#resume()
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    try {
      const body = incoming.method === 'GET' || incoming.method === 'HEAD' ? undefined : await textOf(incoming)
      await this.#resumed
      const request = new Request(`${this.url}${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers: headersOf(incoming),
        signal: gone.signal,
        ...(body && { body }),
      })
      const response = await this.#fake.fetch(request)
      await this.#resumed
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      if (response.body === null) return void outgoing.end()
      outgoing.flushHeaders()
      const stream = Readable.fromWeb(response.body as NodeStream)
      outgoing.once('close', () => stream.destroy())
      stream.on('error', () => outgoing.destroy()).pipe(outgoing)
    } catch {
      outgoing.destroy()
    }
  }
}

function headersOf({ headers }: IncomingMessage): Headers {
  const copy = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (/^(connection|transfer-encoding|keep-alive|expect)$/.test(name)) continue
    if (value !== undefined) copy.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return copy
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
