/** @module Chromium of the distribution, installed where it is missing and that is possible. */

import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Its path. @throws saying what is missing, if it is and can't be installed */
export function installedChromium(): string {
  const found = find('chromium')
  if (found !== undefined) return found
  if (find('apt-get') === undefined) throw new Error('Chromium is missing, and there is no apt-get to install it with')
  if (process.getuid?.() !== 0) {
    throw new Error('Chromium is missing: run `apt-get install chromium` as root')
  }
  console.log('installing Chromium')
  for (const args of [['update'], ['install', '--yes', 'chromium']]) {
    const { status } = spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
    if (status !== 0)
      throw new Error(`Chromium is missing, and \`apt-get ${args.join(' ')}\` failed with status ${status}`)
  }
  const installed = find('chromium')
  if (installed === undefined) throw new Error('Chromium was installed, but there is no `chromium` on the PATH')
  return installed
}

function find(command: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  return folders
    .map((folder) => join(folder, command))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
