/** @module How several discovery clients are asked for one service: in turn, together, or in a race. */

import type { Quirks } from '../compat/quirks.js'
import { toInstance } from '../instance.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'
import { askForList, isPromise, type List, listIn } from './ask.js'

/** What one client said when it was last asked. */
interface Said {
  /** Undefined: it has never answered. */
  list: List | undefined
  /** What its last answer failed with. */
  error: unknown
}

/** The clients and what each of them said of one service. Answers at once if those that are asked do. */
export class Panel {
  readonly #clients: readonly DiscoveryClient[]
  readonly #serviceId: string
  readonly #quirks: Quirks
  readonly #said: readonly Said[]

  constructor(clients: readonly DiscoveryClient[], serviceId: string, quirks: Quirks) {
    this.#clients = clients
    this.#serviceId = serviceId
    this.#quirks = quirks
    this.#said = clients.map(() => ({ list: undefined, error: undefined }))
  }

  /** What the client's last answer failed with; undefined: it did not. */
  failureOf(index: number): unknown {
    return this.#said[index]?.error
  }

  /** The first client's list that names anybody. One that fails is passed over, and told of only if all say nobody. */
  inTurn(signal: AbortSignal, from = 0, errors: readonly unknown[] = []): Promise<List> | List {
    const failed: unknown[] = [...errors]
    const isFinal = this.#quirks.has('composite-stops-at-error')
    for (let i = from; i < this.#clients.length; i++) {
      const answer = this.#ask(i, signal)
      if (isPromise(answer)) {
        return answer.then(({ list = [], error }) => {
          if (error === undefined) return list.length > 0 ? list : this.inTurn(signal, i + 1, failed)
          if (isFinal || signal.aborted) throw error
          return this.inTurn(signal, i + 1, [...failed, error])
        })
      }
      const { list = [], error } = answer
      if (error === undefined) {
        if (list.length > 0) return list
      } else {
        if (isFinal) throw error
        failed.push(error)
      }
    }
    if (failed.length > 0) throw failureOf(failed)
    return []
  }

  /** All lists as one; who is listed twice is taken from the earlier client. One that fails says what it last said. */
  together(signal: AbortSignal): Promise<List> | List {
    const answers = this.#clients.map((_, i) => this.#ask(i, signal))
    if (answers.some(isPromise)) return Promise.all(answers).then(() => this.#union())
    return this.#union()
  }

  /** SCLB's reactive composite: whoever lists somebody first, or fails first, and all others are ended. */
  inRace(signal: AbortSignal): Promise<List> | List {
    const end = new AbortController()
    const onAbort = () => end.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const done = () => {
      signal.removeEventListener('abort', onAbort)
      end.abort()
    }
    const running: Promise<Said>[] = []
    for (let i = 0; i < this.#clients.length; i++) {
      const answer = this.#ask(i, end.signal)
      if (isPromise(answer)) {
        running.push(answer)
      } else if (answer.error !== undefined) {
        done()
        throw answer.error
      } else if (answer.list?.length) {
        done()
        return answer.list
      }
    }
    return new Promise<List>((resolve, reject) => {
      const seen = running.map(async (answer) => {
        const { list = [], error } = await answer
        if (error !== undefined) reject(error)
        else if (list.length > 0) resolve(list)
      })
      void Promise.all(seen).then(() => resolve([]))
    }).finally(done)
  }

  /** Never rejects or throws. */
  #ask(index: number, signal: AbortSignal): Promise<Said> | Said {
    const client = this.#clients[index] as DiscoveryClient
    const said = this.#said[index] as Said
    const answered = (answer: List): Said => {
      try {
        const list = listIn(answer, client.name, this.#serviceId, this.#quirks)
        said.list = list
        said.error = undefined
        return { list, error: undefined }
      } catch (error) {
        return failed(error)
      }
    }
    const failed = (error: unknown): Said => {
      said.error = error ?? new Error(`discovery "${client.name}" failed with ${error}`)
      return { list: undefined, error: said.error }
    }
    try {
      const answer = askForList(client, this.#serviceId, signal)
      return isPromise(answer) ? answer.then(answered, failed) : answered(answer)
    } catch (error) {
      return failed(error)
    }
  }

  #union(): List {
    const union: InstanceInit[] = []
    const ids = new Set<string>()
    for (const { list = [] } of this.#said) {
      for (const init of list) {
        const id = this.#idOf(init)
        if (id !== undefined && ids.has(id)) continue
        if (id !== undefined) ids.add(id)
        union.push(init)
      }
    }
    if (union.length > 0) return union
    const errors = this.#said.filter(({ list, error }) => list === undefined && error !== undefined)
    if (errors.length > 0) throw failureOf(errors.map(({ error }) => error))
    return union
  }

  /** Undefined for what can't be read, which whoever reads the whole list complains of. */
  #idOf(init: InstanceInit): string | undefined {
    try {
      return toInstance(init, this.#serviceId, '', 'discovered').instanceId
    } catch {
      return undefined
    }
  }
}

/** The only error as it is, or one that has them all. */
function failureOf(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0]
  const reasons = errors.map((error) => (error instanceof Error ? error.message : String(error)))
  return new AggregateError(errors, reasons.join('; '))
}
