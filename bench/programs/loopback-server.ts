/** @module An HTTP server on loopback that answers a kilobyte; tells its port to the process that forked it. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const body = Buffer.alloc(1024, 'x')
const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': body.length }).end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
