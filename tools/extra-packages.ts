/** @module Packages that only one part of the project needs: a folder's own package.json, installed when first wanted. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs what the folder's package.json names, unless all of it is there.
 * @param whose what needs it, for messages
 * @throws if npm can't
 */
export function installPackages(folder: string, whose: string): void {
  const { devDependencies } = manifestOf(folder)
  if (Object.entries(devDependencies ?? {}).every(([name, wanted]) => isInstalled(folder, name, wanted))) return
  console.log(`installing what ${whose} needs`)
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status, error } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' })
  if (status === 0) return
  throw new Error(`npm ci in ${folder} failed (${error?.message ?? `status ${status}`}): ${whose} is incomplete`)
}

function isInstalled(folder: string, name: string, wanted: string): boolean {
  try {
    return wanted.endsWith(manifestOf(join(folder, 'node_modules', name)).version ?? '?')
  } catch {
    return false
  }
}

function manifestOf(folder: string): { version?: string; devDependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
