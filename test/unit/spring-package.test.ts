/** The built entry `evenkeel/spring`: what it imports, what it shares, whether the page's example runs. */

import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { expect, it, vi } from 'vitest'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const load = <T>(path: string): Promise<T> => import(/* @vite-ignore */ new URL(path, root).href)

it('imports nothing but the main entry', async () => {
  const { metafile } = await build({
    absWorkingDir: root.pathname,
    entryPoints: ['dist/spring.js'],
    bundle: true,
    // Knows no modules of Node.
    platform: 'neutral',
    external: ['./index.js'],
    write: false,
    metafile: true,
    format: 'esm',
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path))
  expect(new Set(imports)).toEqual(new Set(['./index.js']))
})

it('throws errors of the main entry', async () => {
  const [main, spring] = await Promise.all([
    load<typeof import('../../bindings/index.js')>('dist/index.js'),
    load<typeof import('../../bindings/spring/index.js')>('dist/spring.js'),
  ])
  expect(() => spring.fromSpring('spring.cloud.loadbalancer.cache.ttl=soon')).toThrow(main.ConfigError)
  const { retry } = spring.fromSpring(
    'spring.cloud.loadbalancer.retry.retryable-exceptions=java.util.concurrent.TimeoutException',
  ).options.defaults as { retry: { exceptions(error: unknown): boolean } }
  expect(retry.exceptions(new main.TimeoutError('late'))).toBe(true)
})

it('has the licenses of what it contains', () => {
  const notices = read('dist/THIRD-PARTY.txt')
  for (const name of ['yaml', 'properties-file']) {
    const { version, license } = JSON.parse(read(`node_modules/${name}/package.json`))
    expect(notices).toContain(`${name} ${version} (${license})`)
    expect(notices).toContain(read(`node_modules/${name}/LICENSE`).trim())
  }
})

it('runs as its page shows', async () => {
  const [, example = ''] = /^```ts\n(.*?)^```$/ms.exec(read('docs/spring.md')) ?? []
  const { outputFiles } = await build({
    stdin: { contents: example, loader: 'ts', resolveDir: root.pathname },
    bundle: true,
    write: false,
    format: 'esm',
  })
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
  await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`)
  const [, promised] = /^console\.log\(.*\) \/\/ (.*)$/m.exec(example) ?? []
  expect(printed.mock.calls).toEqual([[promised]])
  expect(warned.mock.calls).toEqual([[expect.stringContaining('line 14, spring.cloud.loadbalancer.cache.capacity')]])
})
