/** @module Chromium, headless, on pages from loopback: a plain one, and one whose CSP forbids WebAssembly. */

import { mkdtemp, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Context, Report } from '../conformance/case.js'
import { close, listening } from './backends.js'
import { resultOf, startChild } from './child.js'
import { type Bundle, bundle } from './consumer.js'
import { type Runtime, runtimeOf } from './runtime.js'

const LACKS: Context['lacks'] = {
  'stream-request': 'Chromium streams request bodies over HTTP/2 and QUIC only',
  'name-bad-scheme': 'Chromium says "Failed to fetch" for an unknown scheme and for a failed connection alike',
}

/** Without the background flags it looks for hosts of its vendor, which a test on loopback has no use for. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** @param find gives the command, when it comes to launching it */
export function chromium(find: () => string = () => 'chromium'): Runtime[] {
  return [
    page('chromium', find, { entry: 'page' }, undefined),
    page('chromium-csp', find, { entry: 'strict-page', core: 'evenkeel/js' }, "default-src 'self'; connect-src *"),
  ]
}

function page(name: string, find: () => string, wanted: Bundle, csp: string | undefined): Runtime {
  return runtimeOf(name, LACKS, async (context, folder) => {
    const command = find()
    const script = await bundle(folder, { ...wanted, options: { conditions: ['browser'] } })
    const server = await servePage(await readFile(script), context, csp)
    try {
      const profile = await mkdtemp(join(folder, 'profile-'))
      const child = startChild(command, [...FLAGS, `--user-data-dir=${profile}`, server.url], { cwd: folder })
      return await resultOf(child, command, server.report)
    } finally {
      await server.stop()
    }
  })
}

async function servePage(script: Buffer, context: Context, csp: string | undefined) {
  let tell!: (report: Report) => void
  let fail!: (error: Error) => void
  const report = new Promise<Report>((resolve, reject) => {
    tell = resolve
    fail = reject
  })
  report.catch(() => {})
  const server = createServer(async (request, response) => {
    if (csp !== undefined) response.setHeader('content-security-policy', csp)
    const send = (type: string, body: string | Buffer) => response.setHeader('content-type', type).end(body)
    if (request.url === '/script.js') return send('text/javascript', script)
    if (request.url === '/context') return send('application/json', JSON.stringify(context))
    if (request.url !== '/report') {
      return send(
        'text/html',
        '<!doctype html><title>conformance</title><script type="module" src="/script.js"></script>',
      )
    }
    let text = ''
    for await (const chunk of request) text += chunk
    response.end()
    const answer = JSON.parse(text) as Report & { error?: string }
    if (answer.error === undefined) tell(answer)
    else fail(new Error(answer.error))
  })
  const url = await listening(server)
  return { url, report, stop: () => close(server) }
}
