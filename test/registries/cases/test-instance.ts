/** @module An HTTP server on loopback as an instance of a service. */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Entry } from '../registry.js'

/** Answers take so long, so that there are always requests under way. */
const ANSWER_MS = 10

export class TestInstance {
  readonly name: string
  readonly port: number
  readonly #server: Server
  #inFlight = 0
  answered = 0

  private constructor(name: string, server: Server) {
    this.name = name
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('request', (_, response) => {
      this.#inFlight++
      response.once('close', () => this.#inFlight--)
      setTimeout(() => {
        this.answered++
        response.end(name)
      }, ANSWER_MS)
    })
  }

  static async start(name: string): Promise<TestInstance> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TestInstance(name, server)
  }

  get host(): string {
    return '127.0.0.1'
  }

  get address(): string {
    return `${this.host}:${this.port}`
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** As a registry is told of it. */
  entry(more: Partial<Entry> = {}): Entry {
    return { instanceId: this.name, host: this.host, port: this.port, ...more }
  }

  /** As a process that is killed: connections and all. */
  async kill(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}
