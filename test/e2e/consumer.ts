/** A project of somebody else's: an example copied out of the repository, with the package installed from its tarball. */

import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { outputOf, startChild } from '../runtime/child.js'

const root = resolve(import.meta.dirname, '../..')
/** The tools that an example's user would have: esbuild, workerd, deno, tsc. */
const PATH = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
const START_MS = 30_000

export interface Consumer {
  readonly folder: string
  /** Runs a program in the project to its end; its output. Rejects with what it said unless the status is 0. */
  run(command: readonly string[]): Promise<string>
  /** Starts a program in the project and waits until `url` answers. It ends with the project. */
  start(command: readonly string[], variables: Record<string, string>, url: string): Promise<void>
  stop(): Promise<void>
}

/** `example` is copied into the project; without one it has nothing but the package. */
export async function consumerOf(example?: string): Promise<Consumer> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-consumer-'))
  if (example !== undefined) await cp(join(root, 'examples', example), folder, { recursive: true })
  else await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  const run = ([command, ...args]: readonly string[], cwd = folder) =>
    outputOf(command as string, args, { cwd, env: { PATH, HOME: folder } })
  const packed = await run(['npm', 'pack', '--ignore-scripts', '--pack-destination', folder], root)
  await run(['npm', 'install', '--no-audit', '--no-fund', '--offline', `./${packed.trim().split('\n').at(-1)}`])
  const stops: (() => Promise<void>)[] = []
  return {
    folder,
    run,
    async start([command, ...args], variables, url) {
      const child = startChild(command as string, args, { cwd: folder, env: { PATH, ...variables } })
      stops.push(() => child.stop())
      let up = false
      const ended = child.ended.then((code) => {
        if (!up) throw new Error(`ended with status ${code}`)
      })
      await Promise.race([answers(url), ended]).catch((cause) => {
        throw new Error(`${command} did not serve ${url}: ${cause.message}\n${child.stdout()}${child.stderr()}`)
      })
      up = true
    },
    async stop() {
      for (const stop of stops) await stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function answers(url: string): Promise<void> {
  const end = performance.now() + START_MS
  while (performance.now() < end) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    )
    if (up) return
    await new Promise((next) => setTimeout(next, 50))
  }
  throw new Error(`no answer within ${START_MS} ms`)
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
