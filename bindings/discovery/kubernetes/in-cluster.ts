/** @module What a pod is given by its cluster: the API server's address, and files. */

import { ConfigError, DiscoveryError } from '../../errors.js'
import { messageOf } from '../message-of.js'

/** Where a pod's service account is mounted. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

interface Runtime {
  process?: {
    env?: Record<string, string | undefined>
    getBuiltinModule?(name: 'node:fs/promises'): { readFile(path: string, encoding: 'utf8'): Promise<string> }
  }
  Deno?: { readTextFile(path: string): Promise<string> }
}

/** @throws EVENKEEL_CONFIG outside a cluster */
export function clusterUrl(): string {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } =
    (globalThis as Runtime).process?.env ?? {}
  if (!host) {
    const message =
      'kubernetesDiscovery.url is needed outside a cluster: there is no KUBERNETES_SERVICE_HOST in the environment'
    throw new ConfigError(message, { option: 'url' })
  }
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The file's text without white space around it. @throws EVENKEEL_DISCOVERY */
export async function readAccountFile(folder: string, name: string): Promise<string> {
  const path = `${folder}/${name}`
  const { Deno: deno, process } = globalThis as Runtime
  try {
    if (deno !== undefined) return (await deno.readTextFile(path)).trim()
    const files = process?.getBuiltinModule?.('node:fs/promises')
    if (files === undefined) throw new Error('this runtime has no files')
    return (await files.readFile(path, 'utf8')).trim()
  } catch (cause) {
    throw new DiscoveryError(`kubernetes: can't read ${path}: ${messageOf(cause)}`, { cause })
  }
}
