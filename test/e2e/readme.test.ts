/** Every TypeScript block of the README compiles against the packed package, and runs. */

import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Consumer, consumerOf, type Origin, startOrigin } from './consumer.js'

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
const snippets = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code as string)

let consumer: Consumer
let origins: Origin[]
const registry = createServer((_, response) => {
  response.end(JSON.stringify([{ host: 'orders-1', port: 8080 }]))
})
/** The addresses that the README uses, as they are here. */
const addresses: [string, string][] = []

beforeAll(async () => {
  consumer = await consumerOf()
  origins = await Promise.all(['1', '2', '3'].map(startOrigin))
  await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening))
  addresses.push(['http://10.0.0.9:8500', `http://127.0.0.1:${(registry.address() as AddressInfo).port}`])
  for (const [i, { url }] of origins.entries()) addresses.push([`http://10.0.0.${i + 1}:8080`, url])
})

afterAll(async () => {
  registry.close()
  registry.closeAllConnections()
  await Promise.all(origins.map((origin) => origin.close()))
  await consumer.stop()
})

it('has its examples', () => {
  expect(snippets.length).toBeGreaterThanOrEqual(4)
})

it('compiles', async () => {
  await Promise.all(snippets.map((code, i) => writeFile(join(consumer.folder, `snippet-${i}.ts`), code)))
  const options = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
    types: [],
  }
  await writeFile(
    join(consumer.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['snippet-*.ts'] }),
  )
  // What tsc complains of goes to stdout.
  await consumer.run(['sh', '-c', 'tsc -p . >&2'])
})

it.each(snippets.map((code, i) => [i, code] as const))('block %i runs', async (i, code) => {
  const here = addresses.reduce((text, [written, real]) => text.replaceAll(written, real), code)
  const entry = join(consumer.folder, `run-${i}.ts`)
  await writeFile(entry, here)
  const outfile = join(consumer.folder, `run-${i}.mjs`)
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    target: 'es2022',
  })
  const output = await consumer.run([process.execPath, outfile])
  // What a comment behind a console.log promises is what it prints.
  for (const [, promised] of here.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)) {
    expect(output.trim()).toBe(promised?.replaceAll(/10\.0\.0\.\d/g, '127.0.0.1'))
  }
})
