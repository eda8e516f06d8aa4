/** @module The Nodes of the matrix, from npm. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { node } from '../runtime/node.js'
import type { Runtime } from '../runtime/runtime.js'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ALIASES = ['node22', 'node24', 'node26']

/** Each is installed when it is to be launched, if it is missing. */
export function nodesOfTheMatrix(): Runtime[] {
  return ALIASES.map((alias) => {
    const command = join(HERE, 'node_modules', alias, 'bin', 'node')
    const { name, launch } = node(alias.replace('node', 'node-'), { command })
    return {
      name,
      async launch() {
        installNodes()
        return launch()
      },
    }
  })
}

/** Installs what this folder's package.json names, unless it is there. */
function installNodes(): void {
  if (ALIASES.every(isInstalled)) return
  console.log('installing the Nodes of the matrix')
  const { status, error } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: HERE,
    stdio: 'inherit',
  })
  if (status !== 0) {
    throw new Error(
      `npm ci in test/matrix failed (${error?.message ?? `status ${status}`}): the Nodes of the matrix are missing`,
    )
  }
}

function isInstalled(alias: string): boolean {
  const { devDependencies } = packageOf(HERE) as { devDependencies: Record<string, string> }
  try {
    return devDependencies[alias]?.endsWith(`@${packageOf(join(HERE, 'node_modules', alias)).version}`) === true
  } catch {
    return false
  }
}

function packageOf(folder: string): { version?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
