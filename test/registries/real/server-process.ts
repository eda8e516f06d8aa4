/** @module A server on loopback as a process that can be stopped, killed, hung and started again. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const LOOK_MS = 50
const KEPT_LINES = 40

export interface Server {
  readonly command: string
  readonly args: readonly string[]
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether it answers; one that throws does not. */
  isUp(): Promise<boolean>
  /** How long that may take. */
  readonly startMs: number
  /** From one look to the next. Default 50. */
  readonly lookMs?: number
}

export class ServerProcess {
  readonly #server: Server
  #child: ChildProcess | undefined
  #said: string[] = []

  constructor(server: Server) {
    this.#server = server
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  /**
   * Resolves when it is up.
   * @throws with the last that it said, if it ends or is not up in time
   */
  async start(): Promise<void> {
    const { command, args, env, isUp, startMs, lookMs = LOOK_MS } = this.#server
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    this.#said = []
    const keep = (piece: Buffer) => {
      this.#said = [...this.#said, ...String(piece).split('\n')].slice(-KEPT_LINES)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    const failure = { message: '' }
    child.once('error', ({ message }) => {
      failure.message = message
    })
    child.once('exit', (code, signal) => {
      failure.message ||= `it ended with ${code ?? signal}`
    })
    for (const giveUpAt = performance.now() + startMs; performance.now() < giveUpAt; await pause(lookMs)) {
      if (failure.message !== '') break
      if (await isUp().catch(() => false)) return
    }
    await this.end('SIGKILL')
    const why = failure.message || `it was not up after ${startMs} ms`
    throw new Error(`${command} ${args.join(' ')}: ${why}\n${this.#said.join('\n')}`)
  }

  /** Resolves when it has ended. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    // One that is stopped takes a SIGTERM only when it goes on.
    child.kill('SIGCONT')
    await ended
  }

  hang(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }
}

/** So many that differ, each free for TCP and UDP. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    if (await isFreeForUdp(port)) ports.add(port)
    await once(server.close(), 'close')
  }
  return [...ports]
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1)
  return port as number
}

async function isFreeForUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  try {
    return await new Promise((resolve) => {
      socket.once('error', () => resolve(false))
      socket.bind(port, '127.0.0.1', () => resolve(true))
    })
  } finally {
    socket.close()
  }
}
