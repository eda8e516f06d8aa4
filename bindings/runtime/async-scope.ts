/** @module Telling whether code was called from a certain callback, also after that callback's awaits. */

interface Storage {
  run<T>(store: true, inside: () => T): T
  getStore(): true | undefined
}
type StorageClass = new () => Storage

/**
 * Node, Deno, Bun and Workers with nodejs_compat have it as a built-in module, edge runtimes as a global; looked up
 * when first needed, because importing it fails where there is none.
 */
function storageClass(): StorageClass | undefined {
  const { process, AsyncLocalStorage } = globalThis as {
    process?: { getBuiltinModule?(id: string): { AsyncLocalStorage?: StorageClass } | undefined }
    AsyncLocalStorage?: StorageClass
  }
  return process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage ?? AsyncLocalStorage
}

/**
 * Knows of everything that runs inside of `run` until it returns. What runs after an await of it is known where there
 * is an AsyncLocalStorage; in browsers, and on Workers without nodejs_compat, it counts as outside.
 */
export class AsyncScope {
  #depth = 0
  #storage: Storage | undefined
  #looked = false

  get entered(): boolean {
    return this.#depth > 0 || this.#storage?.getStore() === true
  }

  run<T>(inside: () => T): T {
    if (!this.#looked) {
      this.#looked = true
      const Class = storageClass()
      if (Class !== undefined) this.#storage = new Class()
    }
    this.#depth++
    try {
      return this.#storage === undefined ? inside() : this.#storage.run(true, inside)
    } finally {
      this.#depth--
    }
  }
}
