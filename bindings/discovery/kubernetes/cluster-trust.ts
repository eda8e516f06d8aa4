/** @module Trust in the cluster's own certificate authority, on the runtimes whose `fetch` can be given one. */

import type { FetchLike } from '../../types/instance.js'
import { readAccountFile } from './in-cluster.js'

interface Runtime {
  Deno?: { createHttpClient?(options: { caCerts: string[] }): { close?(): void } }
  Bun?: object
}

/**
 * `fetch` with the authority in the service account's folder, read when first needed. Node's own `fetch` takes none:
 * there it is NODE_EXTRA_CA_CERTS, or undici's dispatcher by the option `init`.
 */
export class ClusterTrust {
  readonly #folder: string
  #init: Readonly<Record<string, unknown>> | undefined
  #close = () => {}

  constructor(folder: string) {
    this.#folder = folder
  }

  readonly fetch: FetchLike = async (input, init) => {
    const trust = this.#init ?? (await this.#read())
    return fetch(input, { ...trust, ...init })
  }

  close(): void {
    this.#close()
    this.#close = () => {}
    this.#init = undefined
  }

  async #read(): Promise<Readonly<Record<string, unknown>>> {
    const { Deno: deno, Bun: bun } = globalThis as Runtime
    if (deno?.createHttpClient === undefined && bun === undefined) return (this.#init = {})
    const authority = await readAccountFile(this.#folder, 'ca.crt')
    // Another request may have been quicker: of two clients one would never be closed.
    if (this.#init !== undefined) return this.#init
    if (deno?.createHttpClient === undefined) return (this.#init = { tls: { ca: authority } })
    const client = deno.createHttpClient({ caCerts: [authority] })
    this.#close = () => client.close?.()
    return (this.#init = { client })
  }
}
