/** @module A real etcd on loopback, with its data in a folder of its own that outlives stops. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts, ServerProcess } from './server-process.js'
import { programOf } from './tools.js'

const START_MS = 20_000

export class EtcdServer {
  readonly url: string
  readonly #folder: string
  readonly #process: ServerProcess

  private constructor(folder: string, port: number, peerPort: number, flags: readonly string[]) {
    this.#folder = folder
    this.url = `http://127.0.0.1:${port}`
    const peerUrl = `http://127.0.0.1:${peerPort}`
    this.#process = new ServerProcess({
      command: programOf('etcd'),
      args: [
        ...['--data-dir', join(folder, 'data'), '--name', 'one', '--logger', 'zap', '--log-level', 'error'],
        ...['--listen-client-urls', this.url, '--advertise-client-urls', this.url],
        ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ...['--initial-cluster', `one=${peerUrl}`],
        ...flags,
      ],
      isUp: () => this.#isHealthy(),
      startMs: START_MS,
    })
  }

  /**
   * Not started yet.
   * @param flags beside those for addresses and data
   * @throws if there is no etcd
   */
  static async make(...flags: string[]): Promise<EtcdServer> {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-etcd-'))
    const [port, peerPort] = (await freePorts(2)) as [number, number]
    return new EtcdServer(folder, port, peerPort, flags)
  }

  start(): Promise<void> {
    return this.#process.start()
  }

  stop(): Promise<void> {
    return this.#process.end('SIGTERM')
  }

  kill(): Promise<void> {
    return this.#process.end('SIGKILL')
  }

  hang(): void {
    this.#process.hang()
  }

  resume(): void {
    this.#process.resume()
  }

  async dispose(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** One question by the gateway, as it is. */
  async ask(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  async #isHealthy(): Promise<boolean> {
    const answer = await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(2_000) })
    const { health } = (await answer.json()) as { health?: unknown }
    return String(health) === 'true'
  }
}
