/** @module A project that has evenkeel installed, and bundles of the conformance made there as its user would. */

import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CONFORMANCE = join(ROOT, 'test', 'conformance')

const GONE = { recursive: true, force: true, maxRetries: 5 } as const
const folders = new Set<string>()
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, GONE)
})

/** Makes the project in a temporary folder, with what `npm install` would put into node_modules. */
export async function withConsumer<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-consumer-'))
  folders.add(folder)
  try {
    const installed = join(folder, 'node_modules', 'evenkeel')
    await mkdir(installed, { recursive: true })
    const { files } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
    await Promise.all(
      ['package.json', ...files].map((name) => cp(join(ROOT, name), join(installed, name), { recursive: true })),
    )
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'consumer', private: true, type: 'module', dependencies: { evenkeel: '*' } }),
    )
    return await use(folder)
  } finally {
    await rm(folder, GONE)
    folders.delete(folder)
  }
}

export interface Bundle {
  /** A file of test/runtime/entry, without its ending. */
  entry: string
  /** What the conformance imports. */
  core?: 'evenkeel' | 'evenkeel/js'
  /** The runtime itself resolves evenkeel, from the project's node_modules. */
  external?: boolean
  options?: BuildOptions
}

/** Bundles an entry into the project; evenkeel is resolved from there, by its package.json. Returns the file's path. */
export async function bundle(folder: string, { entry, core, external, options }: Bundle): Promise<string> {
  const outfile = join(folder, `${entry}.js`)
  await build({
    absWorkingDir: folder,
    entryPoints: [join(ROOT, 'test', 'runtime', 'entry', `${entry}.ts`)],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    logLevel: 'warning',
    outdir: folder,
    entryNames: '[name]',
    assetNames: '[name]',
    ...options,
    plugins: [installedIn(folder, core ?? 'evenkeel', external ?? false), ...(options?.plugins ?? [])],
  })
  return outfile
}

const RESOLVED = { by: 'installedIn' }

function installedIn(folder: string, core: string, external: boolean): Plugin {
  return {
    name: 'installed-in',
    setup(build) {
      build.onResolve({ filter: /^evenkeel(\/|$)/ }, ({ path, importer, kind, pluginData }) => {
        if (pluginData === RESOLVED) return undefined
        const isCase = !relative(CONFORMANCE, dirname(importer)).startsWith('..')
        const wanted = path === 'evenkeel' && isCase ? core : path
        if (external) return { path: wanted, external: true }
        return build.resolve(wanted, { kind, resolveDir: folder, pluginData: RESOLVED })
      })
    },
  }
}
