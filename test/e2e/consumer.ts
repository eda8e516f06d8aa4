/** A project of somebody else's: an example copied out of the repository, with the package installed from its tarball. */

import { execFile, spawn } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}` }

export interface Consumer {
  readonly folder: string
  /** Runs a program in the project to its end; its output. Rejects with it unless the status is 0. */
  run(command: string[]): Promise<string>
  /** Starts a program in the project and waits until `url` answers. */
  start(command: string[], variables: Record<string, string>, url: string): Promise<void>
  stop(): Promise<void>
}

/** `example` is copied into the project; without one it has nothing but the package. */
export async function consumerOf(example?: string): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-consumer-'))
  if (example !== undefined) await cp(join(root, 'examples', example), folder, { recursive: true })
  else await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root })
  await run('npm', ['install', '--no-audit', '--no-fund', '--offline', `./${stdout.trim().split('\n').at(-1)}`], {
    cwd: folder,
  })
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })]
  return {
    folder,
    async run([command, ...args]) {
      const { stdout } = await run(command as string, args, { cwd: folder, env })
      return stdout
    },
    async start([command, ...args], variables, url) {
      const child = spawn(command as string, args, { cwd: folder, env: { ...env, ...variables }, detached: true })
      let output = ''
      child.stdout.on('data', (text) => (output += text))
      child.stderr.on('data', (text) => (output += text))
      const ended = new Promise<void>((resolveEnd) => child.on('exit', () => resolveEnd()))
      stops.unshift(async () => {
        if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
        await ended
      })
      for (let tries = 0; tries < 200; tries++) {
        if (child.exitCode !== null) break
        if (
          await fetch(url).then(
            () => true,
            () => false,
          )
        )
          return
        await new Promise((next) => setTimeout(next, 100))
      }
      throw new Error(`${command} ${args.join(' ')} did not serve ${url}:\n${output}`)
    },
    async stop() {
      for (const stop of stops) await stop()
    },
  }
}

export interface Origin {
  readonly url: string
  close(): Promise<void>
}

/** A server on loopback that answers with its name, the path it was asked for, and the body it was sent. */
export async function startOrigin(name: string): Promise<Origin> {
  const server: Server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ name, method: request.method, target: request.url, body }))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const origin = await startOrigin('probe')
  await origin.close()
  return Number(new URL(origin.url).port)
}
