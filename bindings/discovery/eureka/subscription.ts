/** @module One watcher of the shared registry: the newest list that it has not taken yet. */

import type { WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import type { ListKeeper } from '../registry/list-keeper.js'

type List = readonly InstanceInit[]

export class Subscription {
  /** The service id, in upper case. */
  readonly name: string
  readonly keeper: ListKeeper
  readonly options: WatchOptions
  /** Its list is to be made whatever has changed: the first, one that could not be read, one after a `get`. */
  isDue = true
  #last: List | undefined
  #waiting: List | undefined
  /** Came after the list that waits. */
  #failure: { readonly error: unknown } | undefined
  #wake = () => {}

  constructor(name: string, keeper: ListKeeper, options: WatchOptions) {
    this.name = name
    this.keeper = keeper
    this.options = options
  }

  offer(list: List): void {
    if (list === this.#last && !this.isDue) return this.options.confirmed?.()
    this.isDue = false
    this.#failure = undefined
    this.#last = list
    this.#waiting = list
    this.#wake()
  }

  /** Told after the list that waits: whoever takes a list takes it for the newest word. */
  fail(error: unknown): void {
    if (this.#waiting === undefined) this.options.failed?.(error)
    else this.#failure = { error }
  }

  /** The lists as they come, without those that a newer one has overtaken; until `ended` aborts. */
  async *lists(ended: AbortSignal): AsyncGenerator<List, void> {
    const wake = () => this.#wake()
    ended.addEventListener('abort', wake, { once: true })
    try {
      while (!ended.aborted) {
        const list = this.#waiting
        this.#waiting = undefined
        if (list !== undefined) {
          yield list
          const failure = this.#failure
          if (failure === undefined || this.#waiting !== undefined) continue
          this.#failure = undefined
          this.options.failed?.(failure.error)
          continue
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      ended.removeEventListener('abort', wake)
    }
  }
}
