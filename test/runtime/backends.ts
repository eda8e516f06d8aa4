/**
 * @module The servers that the conformance cases send to: real HTTP on loopback, from Node whatever runtime is tested.
 *
 * Whatever path is asked for is echoed as JSON: instance, method, raw target, headers, body. These are not:
 *
 *     /hang                 never answers
 *     /drip                 headers and "first", then, once told to go, "second" and the end
 *     /cut                  headers and half of the promised body, then closes
 *     /status/503           that status
 *     /redirect             302 to /redirected
 *     /close /reset /half   closes without an answer, resets, closes within the headers
 *
 * `?on=a` makes only that instance behave so; the others echo. `?token=t` names the request for the control paths,
 * which answer when it has happened, so that no case has to wait by the clock:
 *
 *     /control/arrived  /control/received (some of its body)  /control/closed   wait for that
 *     /control/go                                                              lets a /drip go on
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createConnection } from 'node:net'
import type { Backends } from '../conformance/case.js'

export interface RunningBackends {
  backends: Backends
  stop(): Promise<void>
}

/** A page of another origin may ask anything and see everything. */
const OPEN_TO_PAGES = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
  'access-control-max-age': '600',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

export async function startBackends(): Promise<RunningBackends> {
  const signals = new Signals()
  const names = ['a', 'b', 'c'] as const
  const servers = names.map((name) =>
    createServer((request, response) => void answer(name, request, response, signals)),
  )
  const urls = await Promise.all(servers.map(listening))
  return {
    backends: {
      a: urls[0] as string,
      b: urls[1] as string,
      c: urls[2] as string,
      refused: `http://127.0.0.1:${await closedPort()}`,
    },
    async stop() {
      await Promise.all(servers.map(close))
    },
  }
}

export async function listening(server: Server): Promise<string> {
  // A connection that a client keeps must not be closed under its next request.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** Below the range that the kernel hands out, so that nobody is given it meanwhile. */
async function closedPort(): Promise<number> {
  for (let port = 21_000 + (process.pid % 5_000); port < 32_000; port++) {
    const socket = createConnection(port, '127.0.0.1')
    const isClosed = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
    })
    socket.destroy()
    if (isClosed) return port
  }
  throw new Error('no closed port was found on 127.0.0.1')
}

/** What happened to requests with a token; waiting for what has happened already ends at once. */
class Signals {
  readonly #happened = new Map<string, { promise: Promise<void>; tell: () => void }>()

  tell(event: string, token: string): void {
    this.#of(event, token).tell()
  }

  wait(event: string, token: string): Promise<void> {
    return this.#of(event, token).promise
  }

  #of(event: string, token: string) {
    const key = `${event} ${token}`
    let signal = this.#happened.get(key)
    if (signal === undefined) {
      let tell!: () => void
      const promise = new Promise<void>((resolve) => {
        tell = resolve
      })
      this.#happened.set(key, (signal = { promise, tell }))
    }
    return signal
  }
}

async function answer(name: string, request: IncomingMessage, response: ServerResponse, signals: Signals) {
  const { pathname, searchParams } = new URL(`http://server${(request.url ?? '/').replace(/^\/+/, '/')}`)
  const token = searchParams.get('token') ?? ''
  for (const [header, value] of Object.entries({ ...OPEN_TO_PAGES, 'x-instance': name }))
    response.setHeader(header, value)
  if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
    response.writeHead(204).end()
    return
  }
  request.on('error', () => {})
  if (pathname.startsWith('/control/')) {
    const event = pathname.slice('/control/'.length)
    if (event === 'go') signals.tell(event, token)
    else await signals.wait(event, token)
    response.end()
    return
  }
  response.on('close', () => signals.tell('closed', token))
  signals.tell('arrived', token)
  const on = searchParams.get('on')
  const [, kind, argument] = pathname.split('/') as [string, string, string?]
  const special = on === null || on === name ? SPECIAL[kind] : undefined
  if (special !== undefined) return special({ request, response, signals, token, argument })
  await echo(name, request, response, () => signals.tell('received', token))
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  signals: Signals
  token: string
  argument: string | undefined
}

const SPECIAL: Record<string, (exchange: Exchange) => void | Promise<void>> = {
  hang() {},
  async drip({ response, signals, token }) {
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).write('first')
    await signals.wait('go', token)
    response.end('second')
  },
  cut({ request, response }) {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': '100' })
    response.write('half of it', () => request.socket.destroy())
  },
  status({ request, response, argument }) {
    request.resume()
    response.writeHead(Number(argument)).end(`status ${argument}`)
  },
  redirect({ request, response }) {
    request.resume()
    response.writeHead(302, { location: '/redirected' }).end()
  },
  close({ request }) {
    request.socket.destroy()
  },
  reset({ request }) {
    request.socket.resetAndDestroy()
  },
  half({ request }) {
    request.socket.end('HTTP/1.1 200 OK\r\nContent-Ty')
  },
}

async function echo(name: string, request: IncomingMessage, response: ServerResponse, received: () => void) {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) {
      chunks.push(chunk)
      received()
    }
  } catch {
    // The client went away: there is nobody to answer.
    return
  }
  const { method, url: target, headers } = request
  const body = Buffer.concat(chunks).toString('latin1')
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ instance: name, method, target, headers, body }))
}
