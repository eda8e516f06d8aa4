/** @module How several discovery clients are asked for one service: in turn, together, or in a race. */

import { andThen, isPromise, type List } from './ask.js'
import { type Answer, type Member, unionOf } from './composite-member.js'
import { messageOf } from './message-of.js'
import { stopWith } from './stop-with.js'
import type { TimeShare } from './time-share.js'

/** The clients, and the place of the one whose list was taken last; undefined: of none, or of several. */
export interface Panel {
  readonly members: readonly Member[]
  supplier: number | undefined
}

/** Each answers at once if the clients that are asked do. */
export interface Question {
  readonly signal: AbortSignal
  readonly time: TimeShare
  /** Nobody is asked after one that has failed: there is no time to be saved for those that come after. */
  readonly stopsAtError: boolean
}

/**
 * The first client's list that names anybody. One that fails, or takes longer than its share of the time that is
 * left, is passed over, and told of only if all say nobody.
 */
export function askInTurn(
  panel: Panel,
  question: Question,
  place = 0,
  failed: readonly unknown[] = [],
): Promise<List> | List {
  const { signal, time, stopsAtError } = question
  const member = panel.members[place]
  if (member === undefined) {
    if (failed.length > 0) throw allOf(failed)
    return supplied(panel, undefined, [])
  }
  const limitMs = stopsAtError ? undefined : time.of(panel.members.length - place)
  return andThen(member.ask(signal, limitMs), ({ list, error }) => {
    if (list?.length) return supplied(panel, place, list)
    if (list === undefined && (stopsAtError || signal.aborted)) throw error
    return askInTurn(panel, question, place + 1, list === undefined ? [...failed, error] : failed)
  })
}

/** All lists as one. One that fails says what it last said. */
export function askTogether({ members }: Panel, { signal, time }: Question): Promise<List> | List {
  const limitMs = time.of(1)
  const answers = members.map((member) => member.ask(signal, limitMs))
  const union = () => {
    const all = unionOf(members)
    const silent = members.filter(({ list, error }) => list === undefined && error !== undefined)
    if (all.length === 0 && silent.length > 0) throw allOf(silent.map(({ error }) => error))
    return all
  }
  return answers.some(isPromise) ? Promise.all(answers).then(union) : union()
}

/** SCLB's reactive composite: whoever lists somebody first, or fails first, and all others are ended. */
export function askInRace(panel: Panel, { signal }: Question): Promise<List> | List {
  const { stop, leave } = stopWith(signal)
  const done = () => {
    leave()
    stop.abort()
  }
  const running: [number, Promise<Answer>][] = []
  for (const [place, member] of panel.members.entries()) {
    const answer = member.ask(stop.signal, undefined)
    if (isPromise(answer)) {
      running.push([place, answer])
    } else if (answer.list?.length !== 0) {
      done()
      if (answer.list === undefined) throw answer.error
      return supplied(panel, place, answer.list)
    }
  }
  return new Promise<[number | undefined, List]>((resolve, reject) => {
    const seen = running.map(async ([place, answer]) => {
      const { list, error } = await answer
      if (list === undefined) reject(error)
      else if (list.length > 0) resolve([place, list])
    })
    void Promise.all(seen).then(() => resolve([undefined, []]))
  })
    .then(([place, list]) => supplied(panel, place, list))
    .finally(done)
}

function supplied(panel: Panel, place: number | undefined, list: List): List {
  panel.supplier = place
  return list
}

/** The only error as it is, or one that has them all. */
function allOf(errors: readonly unknown[]): unknown {
  return errors.length === 1 ? errors[0] : new AggregateError(errors, errors.map(messageOf).join('; '))
}
