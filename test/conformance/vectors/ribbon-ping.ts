/** @module Ribbon's rounds of pings, and its PingUrl. */

import { expect } from 'chai'
import { type Compat, createLoadBalancer, type FetchLike, type Ping, type Service, urlPing } from 'evenkeel'
import file from '../../vectors/ribbon-ping.json'
import { placed } from './replay.js'
import { pickedOf, placeOf, type RibbonVector, replayedRibbon } from './ribbon.js'

type Answer = 'true' | 'false' | 'throws'

interface PingVector extends RibbonVector {
  readonly size?: number
  readonly rounds?: readonly {
    readonly answers: readonly Answer[]
    readonly up: readonly number[]
    readonly changed?: readonly number[]
  }[]
  /** Absent: nobody listens. */
  readonly status?: number
  readonly body?: string
  readonly location?: string
  readonly append?: string
  readonly expected?: string
  readonly asked?: readonly string[]
  /** Absent: it throws, and is dead. */
  readonly alive?: boolean
}

async function withPing(
  compat: Compat,
  ping: Ping,
  size: number,
  fetch: FetchLike,
  use: (service: Service) => Promise<void>,
): Promise<void> {
  const lb = createLoadBalancer({
    compat,
    seed: 1,
    fetch,
    services: { svc: { instances: placed(new Array(size).fill({})), healthCheck: { ping, repeat: false } } },
  })
  await use(lb.service('svc'))
  await lb.close()
}

const refuse: FetchLike = () => Promise.reject(new TypeError('fetch failed'))

function rounds({ size = 0, rounds = [] }: PingVector): Promise<void> {
  let answers: readonly Answer[] = []
  const ping: Ping = {
    name: 'answers',
    isAlive({ host }) {
      const answer = answers[placeOf(host)]
      if (answer === 'throws') throw new Error('no')
      return answer === 'true'
    },
  }
  // Not a refresh, which would have everybody alive beforehand.
  return withPing(['ribbon-ping-serial'], ping, size, refuse, async (service) => {
    const told: number[] = []
    service.on('eject', ({ instance }) => void told.push(placeOf(instance.host)))
    service.on('restore', ({ instance }) => void told.push(placeOf(instance.host)))
    const everUp = new Set<number>()
    for (const [index, round] of rounds.entries()) {
      answers = round.answers
      told.length = 0
      await service.check()
      expect(pickedOf(service, size), `up in round ${index}`).to.deep.equal(round.up)
      // Who is up for the first time is not "restored". On Workers all are up before the first round.
      const changed = index === 0 ? [...told].sort() : (round.changed ?? []).filter((place) => everUp.has(place))
      expect([...told].sort(), `changed in round ${index}`).to.deep.equal(changed)
      for (const place of [...round.up, ...changed]) everUp.add(place)
    }
  })
}

function url({ status, body = '', location, append, expected, asked, alive = false }: PingVector): Promise<void> {
  const ping = urlPing({
    ...(append !== undefined && { path: append }),
    ...(expected !== undefined && { expectedContent: expected }),
  })
  const paths: string[] = []
  const fetch: FetchLike = (input, init) => {
    if (status === undefined) return refuse(input, init)
    const { pathname, search } = new URL(String(input))
    paths.push(pathname + search)
    if (location === undefined || pathname === location) {
      return Promise.resolve(pathname === location ? new Response('there') : answer(status, body))
    }
    const isFollowed = init?.redirect === 'follow' && status !== 304
    return isFollowed ? fetch(new URL(location, String(input)), init) : Promise.resolve(answer(status, body))
  }
  return withPing('ribbon', ping, 1, fetch, async (service) => {
    await service.check()
    expect(pickedOf(service, 1)).to.deep.equal(alive ? [0] : [])
    expect(paths).to.deep.equal(asked)
  })
}

const answer = (status: number, body: string) =>
  new Response(status === 204 || status === 304 ? null : body, { status })

export const cases = replayedRibbon<PingVector>(file, (vector) =>
  vector.rounds === undefined ? url(vector) : rounds(vector),
)
