/**
 * Builds dist/ and build/: the core in three forms from one assembly/, the bundles, the declarations.
 * A step whose inputs have not changed is skipped; `--force` runs them all.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { build as bundle, type Metafile, type Plugin } from 'esbuild'

const run = promisify(execFile)
const bin = (name: string) => join('node_modules', '.bin', name)
const STAMPS = 'build/stamps.json'

let stamps: Record<string, string> = {}
const force = process.argv.includes('--force')

/** Runs `work` unless it ran before with the same contents of these files and folders, and its outputs are there. */
async function step(
  name: string,
  inputs: readonly string[],
  outputs: readonly string[],
  work: () => Promise<unknown>,
): Promise<void> {
  const hash = createHash('sha256')
  for (const input of inputs) {
    for (const file of await filesOf(input))
      hash
        .update(file)
        .update('\0')
        .update(await readFile(file))
  }
  const stamp = hash.digest('hex')
  if (!force && stamps[name] === stamp && outputs.every((output) => existsSync(output)))
    return console.error(`  ${name}: unchanged`)
  const start = performance.now()
  await work()
  stamps[name] = stamp
  await writeFile(STAMPS, JSON.stringify(stamps, undefined, 1))
  console.error(`  ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`)
}

async function filesOf(path: string): Promise<string[]> {
  if (/\.\w+$/.test(path)) return [path]
  const entries = await readdir(path, { withFileTypes: true })
  const nested = await Promise.all(
    entries.map((entry) => (entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)])),
  )
  return nested.flat().sort()
}

/** What each form of the core may ask of its host. */
const FEATURES = {
  core: ['simd', 'bulk-memory', 'nontrapping-float-to-int'],
  'core.shared': ['simd', 'bulk-memory', 'nontrapping-float-to-int', 'threads'],
  'core.scalar': [],
}

/**
 * By wasm-opt and not by asc, whose own limits put large functions into each of their callers too: more to
 * download for the same speed. Functions of up to 45 instructions that call nothing are worth it.
 */
const OPTIMISED = ['-O3', '--converge', '--flexible-inline-max-function-size=45']

async function compileCore(): Promise<void> {
  await Promise.all(
    ['release', 'debug', 'shared', 'js'].map((target) =>
      run(bin('asc'), ['assembly/index.ts', '--config', 'asconfig.json', '--target', target]),
    ),
  )
  await Promise.all(
    (Object.keys(FEATURES) as (keyof typeof FEATURES)[]).map((name) => {
      const features = [...FEATURES[name], 'sign-ext', 'mutable-globals'].map((feature) => `--enable-${feature}`)
      return run(bin('wasm-opt'), [...features, ...OPTIMISED, `build/${name}.wasm`, '-o', `build/${name}.wasm`])
    }),
  )
  await run(bin('wasm2js'), ['build/core.scalar.wasm', '-O', '-o', 'build/core.js'])
  await writeFile('build/core.js', instantiable(await readFile('build/core.js', 'utf8')))
  const wasm = await readFile('build/core.wasm')
  await writeFile('build/core-base64.js', `export const CORE_BASE64 = '${wasm.toString('base64')}'\n`)
}

/** wasm2js writes a module that makes its instance when imported; here the caller makes it. */
function instantiable(source: string): string {
  const tail = source.indexOf('var retasmFunc = asmFunc({')
  if (tail < 0) throw new Error('wasm2js wrote something unexpected: no call of asmFunc')
  return `${source.slice(0, tail)}export const instantiate = () => asmFunc({})\n`
}

async function bundleAll(): Promise<void> {
  const common = {
    bundle: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'warning',
  } as const
  const entry = {
    ...common,
    outdir: 'dist',
    // Names stay, for stack traces; white space only costs time at the first import.
    minifySyntax: true,
    minifyWhitespace: true,
    // Tools that tell modules from scripts look for an export at the start of a line.
    footer: { js: 'export {}' },
  } as const
  await Promise.all([
    bundle({ ...entry, entryPoints: { errors: 'bindings/errors.ts' } }),
    bundle({ ...entry, entryPoints: { index: 'bindings/index.ts' }, external: ['#core'], plugins: [shared] }),
    bundle({
      ...entry,
      entryPoints: { js: 'bindings/index.ts' },
      alias: { '#core': './bindings/runtime/js.ts' },
      plugins: [shared],
    }),
    bundle({
      ...common,
      entryPoints: ['inline', 'workerd', 'edge-light'].map((name) => `bindings/runtime/${name}.ts`),
      outdir: 'dist/core',
      external: ['*.wasm', '*.wasm?module'],
    }),
  ])
  const spring = await bundle({
    ...entry,
    entryPoints: { spring: 'bindings/spring/index.ts' },
    plugins: [shared],
    metafile: true,
  })
  await bundle({
    ...entry,
    entryPoints: { undici: 'bindings/transport/undici.ts' },
    plugins: [shared],
    external: ['undici'],
  })
  const discovery = await bundle({
    ...entry,
    entryPoints: Object.fromEntries(registries.map((name) => [name, `bindings/discovery/${name}/index.ts`])),
    plugins: [shared],
    // dns-packet, which has no use where this is empty, must not stop a browser from loading what it is part of.
    alias: { buffer: './bindings/discovery/dns/buffer.ts' },
    metafile: true,
  })
  await writeFile('dist/THIRD-PARTY.txt', await noticesOf([spring.metafile, discovery.metafile]))
  await copyFile('build/core.wasm', 'dist/core.wasm')
  await writeFile('dist/core.wasm.d.ts', 'declare const module: WebAssembly.Module\nexport default module\n')
}

/**
 * What entries share stands beside them and is imported as it is, so that an error is of the same class in all: the
 * errors, and for some of them the main entry. What has no need of the core does not bring it along.
 */
const shared: Plugin = {
  name: 'shared',
  setup: (build) =>
    build.onResolve({ filter: /\/(?:index|errors)\.js$/ }, ({ path, resolveDir, kind }) => {
      if (kind !== 'import-statement') return undefined
      const name = /^bindings.((?:index|errors)\.js)$/.exec(relative('.', join(resolveDir, path)))?.[1]
      return name === undefined ? undefined : { path: `./${name}`, external: true }
    }),
}

/** Those of bindings/discovery/ that are entries. */
async function namesOfRegistries(): Promise<string[]> {
  const folders = await readdir('bindings/discovery', { withFileTypes: true })
  return folders
    .filter((folder) => folder.isDirectory() && existsSync(`bindings/discovery/${folder.name}/index.ts`))
    .map(({ name }) => name)
}

/** The licenses of the packages that bundles have parts of. */
async function noticesOf(metafiles: readonly Metafile[]): Promise<string> {
  const bundlesOf = new Map<string, Set<string>>()
  for (const { outputs } of metafiles) {
    for (const [file, { inputs }] of Object.entries(outputs)) {
      for (const path of Object.keys(inputs)) {
        const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
        if (name !== undefined) bundlesOf.set(name, (bundlesOf.get(name) ?? new Set()).add(file))
      }
    }
  }
  const names = [...bundlesOf.keys()].sort()
  const notices = names.map(async (name) => {
    const folder = `node_modules/${name}`
    const { version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'))
    const text = await readFile(`${folder}/LICENSE`, 'utf8')
    const files = [...(bundlesOf.get(name) as Set<string>)].sort().join(', ')
    return `${name} ${version} (${license}), in ${files}\n\n${text.trim()}\n`
  })
  return `Some files contain parts of these packages.\n\n${(await Promise.all(notices)).join('\n---\n\n')}`
}

async function declare(): Promise<void> {
  await rm('dist/types', { recursive: true, force: true })
  await run(bin('tsc'), ['-p', 'tools/tsconfig.declarations.json'])
}

const start = performance.now()
console.error('building')
await Promise.all([mkdir('build', { recursive: true }), mkdir('dist', { recursive: true })])
const registries = await namesOfRegistries()
stamps = JSON.parse(await readFile(STAMPS, 'utf8').catch(() => '{}'))
const tools = ['package-lock.json', 'tools/build.ts']
const cores = ['core.wasm', 'core.debug.wasm', 'core.shared.wasm', 'core.scalar.wasm', 'core.js', 'core-base64.js']
await step(
  'core',
  ['assembly', 'asconfig.json', ...tools],
  cores.map((name) => `build/${name}`),
  compileCore,
)
const bundles = [
  'errors.js',
  'index.js',
  'js.js',
  'spring.js',
  'undici.js',
  ...registries.map((name) => `${name}.js`),
  'THIRD-PARTY.txt',
  'core.wasm',
  'core.wasm.d.ts',
  'core/inline.js',
  'core/workerd.js',
  'core/edge-light.js',
]
await step(
  'bundles',
  ['bindings', 'assembly', ...tools],
  bundles.map((name) => `dist/${name}`),
  bundleAll,
)
await step(
  'declarations',
  ['bindings', 'assembly/layout.ts', 'tools/tsconfig.declarations.json', ...tools],
  ['dist/types/bindings/index.d.ts'],
  declare,
)
console.error(`built in ${((performance.now() - start) / 1000).toFixed(1)} s`)
