/**
 * Looks at the package as npm would publish it: what is in it, whether its entries resolve (publint, attw), whether
 * the core imports nothing, and whether the sizes are within their budgets. Any complaint ends it with status 1.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const run = promisify(execFile)
const complaints: string[] = []

/** Gzipped, in bytes: more than this is an accident. What the entry should weigh, bench/suites/sizes.ts judges. */
const CEILINGS = { core: 14.5 * 1024, workers: 63.5 * 1024 }

async function listed(): Promise<string[]> {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const answer = JSON.parse(stdout)
  const [packed] = Array.isArray(answer) ? answer : Object.values(answer)
  console.log(`package: ${packed.entryCount} files, ${(packed.size / 1024).toFixed(1)} KB packed`)
  return packed.files.map(({ path }: { path: string }) => path)
}

function checkFiles(files: readonly string[]): void {
  for (const needed of [
    'dist/index.js',
    'dist/js.js',
    'dist/spring.js',
    'dist/undici.js',
    ...['consul', 'dns', 'etcd', 'eureka', 'kubernetes', 'nacos'].map((name) => `dist/${name}.js`),
    'dist/THIRD-PARTY.txt',
    'dist/core.wasm',
    'dist/core/workerd.js',
    'README.md',
    'LICENSE',
  ]) {
    if (!files.includes(needed)) complaints.push(`the package lacks ${needed}`)
  }
  const stray = files.filter((file) => !/^(dist\/|docs\/|README\.md$|LICENSE$|package\.json$)/.test(file))
  if (stray.length > 0) complaints.push(`the package has ${stray.join(', ')}`)
}

async function checkEntries(): Promise<void> {
  const manifest = JSON.parse(await readFile('package.json', 'utf8'))
  const { messages } = await publint({ strict: true })
  for (const message of messages) complaints.push(`publint: ${formatMessage(message, manifest)}`)
  console.log(`publint: ${messages.length === 0 ? 'all good' : `${messages.length} complaints`}`)
  try {
    const { stdout } = await run('node_modules/.bin/attw', [
      '--pack',
      '.',
      '--profile',
      'esm-only',
      '--no-color',
      '--no-emoji',
    ])
    console.log(stdout.trim())
  } catch (error) {
    complaints.push(`attw: ${(error as { stdout: string }).stdout}`)
  }
}

async function checkSizes(): Promise<void> {
  const core = await readFile('dist/core.wasm')
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(core))
  if (imports.length > 0) complaints.push(`the core imports ${imports.map(({ name }) => name).join(', ')}`)
  const bundle = await build({
    stdin: { contents: "export * from 'evenkeel'", resolveDir: '.' },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    conditions: ['workerd', 'worker', 'browser'],
    external: ['*.wasm'],
  })
  const sizes = { core: gzipSync(core).length, workers: gzipSync(bundle.outputFiles[0]?.contents ?? '').length }
  for (const [name, size] of Object.entries(sizes) as [keyof typeof CEILINGS, number][]) {
    const ceiling = CEILINGS[name]
    console.log(`${name}: ${(size / 1024).toFixed(1)} KB gzipped, at most ${ceiling / 1024} KB`)
    if (size > ceiling) complaints.push(`${name} is larger than ${ceiling / 1024} KB`)
  }
}

checkFiles(await listed())
await checkEntries()
await checkSizes()
for (const complaint of complaints) console.error(`✗ ${complaint}`)
process.exitCode = complaints.length === 0 ? 0 : 1
