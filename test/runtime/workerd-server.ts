/** @module The workerd binary, serving one Worker that a consumer has bundled. */

import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type Child, outputOf, startChild } from './child.js'
import { bundle, ROOT } from './consumer.js'

const WORKERD = join(ROOT, 'node_modules', '.bin', 'workerd')

/** The latest compatibility date that the installed binary supports: that of its release. */
export async function latestDate(): Promise<string> {
  const version = await outputOf(WORKERD, ['--version'], { cwd: ROOT })
  const date = /\d{4}-\d{2}-\d{2}/.exec(version)?.[0]
  if (date === undefined) throw new Error(`workerd --version says ${JSON.stringify(version)}, which has no date`)
  return date
}

export interface WorkerOptions {
  /** A file of test/runtime/entry, without its ending. */
  entry: string
  compatibilityDate: string
  /** Service bindings: name and base URL. */
  bindings?: Record<string, string>
  /** Text bindings. */
  texts?: Record<string, string>
}

export interface RunningWorker {
  child: Child
  url: Promise<string>
}

/** Bundles the Worker as a user's bundler for Workers would, the core kept as a Wasm module, and starts it. */
export async function startWorker(consumer: string, options: WorkerOptions): Promise<RunningWorker> {
  const { entry, compatibilityDate, bindings = {}, texts = {} } = options
  const folder = await mkdtemp(join(consumer, `${entry}-`))
  await bundle(consumer, {
    entry,
    options: { outdir: folder, conditions: ['workerd', 'worker', 'browser'], loader: { '.wasm': 'copy' } },
  })
  await writeFile(join(folder, 'config.capnp'), configOf(entry, compatibilityDate, bindings, texts))
  // Port 0: the kernel chooses, and workerd tells on the control descriptor.
  const args = ['serve', 'config.capnp', '--control-fd=3']
  const child = startChild(WORKERD, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const control = child.process.stdio[3] as Readable
  return { child, url: portOf(control).then((port) => `http://127.0.0.1:${port}`) }
}

async function portOf(control: Readable): Promise<number> {
  let text = ''
  for await (const chunk of control.setEncoding('utf8')) {
    text += chunk
    const port = /"event":"listen".*"port":(\d+)/.exec(text)?.[1]
    if (port !== undefined) {
      control.resume()
      return Number(port)
    }
  }
  // The child's end says more.
  return new Promise<never>(() => {})
}

function configOf(
  entry: string,
  compatibilityDate: string,
  bindings: Record<string, string>,
  texts: Record<string, string>,
): string {
  const addressOf = (url: string) => new URL(url).host
  const services = Object.entries(bindings).map(
    ([name, url]) => `(name = "${name}", external = (address = "${addressOf(url)}", http = ()))`,
  )
  const given = [
    ...Object.keys(bindings).map((name) => `(name = "${name}", service = "${name}")`),
    ...Object.entries(texts).map(([name, text]) => `(name = "${name}", text = "${text}")`),
  ]
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "loopback", network = (allow = ["private", "public"])),
    ${services.join(',\n    ')}
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);

const worker :Workerd.Worker = (
  modules = [
    (name = "${entry}.js", esModule = embed "${entry}.js"),
    (name = "core.wasm", wasm = embed "core.wasm")
  ],
  compatibilityDate = "${compatibilityDate}",
  globalOutbound = "loopback",
  bindings = [${given.join(', ')}]
);
`
}
