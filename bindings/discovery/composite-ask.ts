/** @module How several discovery clients are asked for one service: in turn, together, or in a race. */

import type { Quirks } from '../compat/quirks.js'
import { ListReader } from '../service/list-reader.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit, ServiceInstance } from '../types/instance.js'
import { isPromise, type List, listIn } from './ask.js'
import { askWithin } from './ask-within.js'
import { messageOf } from './message-of.js'
import { TimeShare } from './time-share.js'

/** What one client said. */
interface Answer {
  /** Undefined: it failed. */
  readonly list: List | undefined
  readonly error: unknown
}

/** What is remembered of a client. */
interface Said {
  /** The last list that could be read; undefined: there was none. */
  instances: readonly ServiceInstance[] | undefined
  /** What its last answer failed with. */
  error: unknown
  readonly reader: ListReader
}

/** One question to all or some of them. */
export interface Question {
  readonly signal: AbortSignal
  readonly time: TimeShare
}

/** The clients and what each of them said of one service. Answers at once if those that are asked do. */
export class Panel {
  readonly #clients: readonly DiscoveryClient[]
  readonly #serviceId: string
  readonly #quirks: Quirks
  readonly #said: readonly Said[]
  /** Whose list was taken last, where one client's is. */
  #supplier: number | undefined

  constructor(clients: readonly DiscoveryClient[], serviceId: string, quirks: Quirks) {
    this.#clients = clients
    this.#serviceId = serviceId
    this.#quirks = quirks
    this.#said = clients.map(() => ({ instances: undefined, error: undefined, reader: new ListReader(serviceId) }))
  }

  /** The place of the client whose list was taken; undefined: of none, or of several. */
  get supplier(): number | undefined {
    return this.#supplier
  }

  /** What the client's last answer failed with; undefined: it did not. */
  failureOf(index: number): unknown {
    return this.#said[index]?.error
  }

  /** A new question begins: earlier failures say nothing of its answer. `timeoutMs`: when nobody waits any more. */
  begin(signal: AbortSignal, timeoutMs: number | undefined): Question {
    for (const said of this.#said) said.error = undefined
    return { signal, time: new TimeShare(timeoutMs) }
  }

  /** Of the clients that have been asked since. */
  failures(): unknown[] {
    return this.#said.flatMap(({ error }) => (error === undefined ? [] : [error]))
  }

  /**
   * The first client's list that names anybody. One that fails, or takes longer than its share of the time that is
   * left, is passed over, and told of only if all say nobody.
   */
  inTurn(question: Question, from = 0, errors: readonly unknown[] = []): Promise<List> | List {
    const failed: unknown[] = [...errors]
    const isFinal = this.#quirks.has('composite-stops-at-error')
    for (let i = from; i < this.#clients.length; i++) {
      // Where an error ends it all there is no time to be saved for those that come after.
      const answer = this.#ask(i, question.signal, isFinal ? undefined : question.time.of(this.#clients.length - i))
      if (isPromise(answer)) {
        return answer.then(({ list = [], error }) => {
          if (error === undefined) return list.length > 0 ? this.#by(i, list) : this.inTurn(question, i + 1, failed)
          if (isFinal || question.signal.aborted) throw error
          return this.inTurn(question, i + 1, [...failed, error])
        })
      }
      const { list = [], error } = answer
      if (error === undefined) {
        if (list.length > 0) return this.#by(i, list)
      } else {
        if (isFinal) throw error
        failed.push(error)
      }
    }
    if (failed.length > 0) throw failureOf(failed)
    return this.#by(undefined, [])
  }

  /** All lists as one; who is listed twice is taken from the earlier client. One that fails says what it last said. */
  together({ signal, time }: Question): Promise<List> | List {
    const limitMs = time.of(1)
    const answers = this.#clients.map((_, i) => this.#ask(i, signal, limitMs))
    if (answers.some(isPromise)) return Promise.all(answers).then(() => this.#union())
    return this.#union()
  }

  /** SCLB's reactive composite: whoever lists somebody first, or fails first, and all others are ended. */
  inRace({ signal }: Question): Promise<List> | List {
    const end = new AbortController()
    const onAbort = () => end.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const done = () => {
      signal.removeEventListener('abort', onAbort)
      end.abort()
    }
    const running: [number, Promise<Answer>][] = []
    for (let i = 0; i < this.#clients.length; i++) {
      const answer = this.#ask(i, end.signal, undefined)
      if (isPromise(answer)) {
        running.push([i, answer])
      } else if (answer.error !== undefined) {
        done()
        throw answer.error
      } else if (answer.list?.length) {
        done()
        return this.#by(i, answer.list)
      }
    }
    return new Promise<[number | undefined, List]>((resolve, reject) => {
      const seen = running.map(async ([i, answer]) => {
        const { list = [], error } = await answer
        if (error !== undefined) reject(error)
        else if (list.length > 0) resolve([i, list])
      })
      void Promise.all(seen).then(() => resolve([undefined, []]))
    })
      .then(([i, list]) => this.#by(i, list))
      .finally(done)
  }

  /** Never rejects or throws. A list that can't be read is its client's failure, not that of all. */
  #ask(index: number, signal: AbortSignal, limitMs: number | undefined): Promise<Answer> | Answer {
    const client = this.#clients[index] as DiscoveryClient
    const said = this.#said[index] as Said
    const answered = (answer: List): Answer => {
      try {
        const list = listIn(answer, client.name, this.#serviceId, this.#quirks)
        const where = `the answer of discovery "${client.name}"`
        said.instances = said.reader.read(list, where, 'discovered', () => undefined).instances
        said.error = undefined
        return { list, error: undefined }
      } catch (error) {
        return failed(error)
      }
    }
    const failed = (error: unknown): Answer => {
      said.error = error ?? new Error(`discovery "${client.name}" failed with ${error}`)
      return { list: undefined, error: said.error }
    }
    try {
      const answer = askWithin(client, this.#serviceId, signal, limitMs)
      return isPromise(answer) ? answer.then(answered, failed) : answered(answer)
    } catch (error) {
      return failed(error)
    }
  }

  /** Remembers whose list it is that is answered. */
  #by(index: number | undefined, list: List): List {
    this.#supplier = index
    return list
  }

  #union(): List {
    const union = new Map<string, InstanceInit>()
    for (const { instances = [] } of this.#said) {
      for (const instance of instances) {
        if (!union.has(instance.instanceId)) union.set(instance.instanceId, instance)
      }
    }
    if (union.size > 0) return [...union.values()]
    const errors = this.#said.filter(({ instances, error }) => instances === undefined && error !== undefined)
    if (errors.length > 0) throw failureOf(errors.map(({ error }) => error))
    return []
  }
}

/** The only error as it is, or one that has them all. */
function failureOf(errors: readonly unknown[]): unknown {
  return errors.length === 1 ? errors[0] : new AggregateError(errors, errors.map(messageOf).join('; '))
}
