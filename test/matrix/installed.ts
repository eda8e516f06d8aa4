/** @module What only the matrix needs, installed by npm when it is first wanted. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The path of a file of an installed package, as `node24/bin/node`. */
export function installed(file: string): string {
  install()
  return join(HERE, 'node_modules', file)
}

/** Installs what this folder's package.json names, unless all of it is there. */
function install(): void {
  const { devDependencies } = manifestOf(HERE)
  if (Object.entries(devDependencies ?? {}).every(([name, wanted]) => isInstalled(name, wanted))) return
  console.log('installing what the matrix needs')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status, error } = spawnSync('npm', args, { cwd: HERE, stdio: 'inherit' })
  if (status === 0) return
  throw new Error(`npm ci in test/matrix failed (${error?.message ?? `status ${status}`}): the matrix is incomplete`)
}

function isInstalled(name: string, wanted: string): boolean {
  try {
    return wanted.endsWith(manifestOf(join(HERE, 'node_modules', name)).version ?? '?')
  } catch {
    return false
  }
}

function manifestOf(folder: string): { version?: string; devDependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
