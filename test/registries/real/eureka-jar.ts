/** @module The Eureka server and client that Maven builds of `test/registries/eureka`. */

import { freePort, ServerProcess } from './server-process.js'

/** Where the build puts it. */
export const EUREKA_JAR = 'build/registries/eureka/eureka.jar'

const START_MS = 120_000

/** Quick to start rather than fast for long. */
const JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m']
const COMMON = { 'spring.main.banner-mode': 'off' }

/**
 * The server keeps each answer until something changes, but one that it was making at that moment it keeps for so long
 * whatever changed: 180 s unless told otherwise.
 */
export const ANSWER_KEPT_MS = 1_000

/** A server without peers, that answers each question from what it knows at that moment. */
const SERVER = {
  'server.address': '127.0.0.1',
  'eureka.client.register-with-eureka': false,
  'eureka.client.fetch-registry': false,
  'eureka.server.enable-self-preservation': false,
  'eureka.server.eviction-interval-timer-in-ms': 1_000,
  'eureka.server.use-read-only-response-cache': false,
  'eureka.server.response-cache-update-interval-ms': 200,
  'eureka.server.response-cache-auto-expiration-in-seconds': ANSWER_KEPT_MS / 1_000,
  'eureka.server.wait-time-in-ms-when-sync-empty': 0,
}

export class EurekaServer {
  readonly #port: number
  readonly #process: ServerProcess

  private constructor(port: number) {
    this.#port = port
    this.#process = new ServerProcess({
      command: 'java',
      args: [...JVM, '-jar', EUREKA_JAR, ...flags({ ...SERVER, 'server.port': port })],
      isUp: async () => (await this.ask('GET', '/apps/')).ok,
      startMs: START_MS,
    })
  }

  static async make(): Promise<EurekaServer> {
    return new EurekaServer(await freePort())
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/eureka`
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

  /** One question, as it is. */
  ask(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      signal: AbortSignal.timeout(5_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
}

/** A service of Java's that registers by Spring's own client. */
export class JavaRegistrant {
  readonly #process: ServerProcess

  constructor(server: EurekaServer, serviceId: string, port: number, metadata: Record<string, string>) {
    const about = Object.entries(metadata).map(([key, value]) => [`eureka.instance.metadata-map.${key}`, value])
    const options = {
      ...Object.fromEntries(about),
      'spring.application.name': serviceId,
      'server.address': '127.0.0.1',
      'server.port': port,
      'eureka.client.service-url.defaultZone': `${server.url}/`,
      'eureka.client.fetch-registry': false,
      // The server's own classes bring a Jersey without Spring's client for it.
      'eureka.client.jersey.enabled': false,
      'eureka.instance.hostname': '127.0.0.1',
      'eureka.instance.ip-address': '127.0.0.1',
    }
    const main = '-Dloader.main=registry.Registrant'
    this.#process = new ServerProcess({
      command: 'java',
      args: [...JVM, main, '-jar', EUREKA_JAR, ...flags(options)],
      isUp: async () => (await server.ask('GET', `/apps/${serviceId.toUpperCase()}`)).ok,
      startMs: START_MS,
    })
  }

  /** Resolves when the server has it. */
  start(): Promise<void> {
    return this.#process.start()
  }

  /** In good order: it deregisters. */
  stop(): Promise<void> {
    return this.#process.end('SIGTERM')
  }
}

function flags(options: Record<string, string | number | boolean>): string[] {
  return Object.entries({ ...COMMON, ...options }).map(([key, value]) => `--${key}=${value}`)
}
