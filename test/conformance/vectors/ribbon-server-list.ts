/** @module Ribbon's setServersList and DynamicServerListLoadBalancer: who is alive when lists come and pings answer. */

import { expect } from 'chai'
import { constantPing, createLoadBalancer, dummyPing, type InstanceInit, type Ping } from 'evenkeel'
import file from '../../vectors/ribbon-server-list.json'
import { placed } from './replay.js'
import { pickedOf, placeOf, type RibbonVector, replayedRibbon } from './ribbon.js'

interface ServerListVector extends RibbonVector {
  readonly refresh: boolean
  readonly ping: string
  readonly steps: readonly {
    readonly step: readonly [kind: string, places?: readonly number[]]
    /** By place in the list. */
    readonly alive: readonly boolean[]
    readonly up: readonly number[]
    readonly pings?: number
    readonly changed?: boolean
  }[]
}

const SERVERS = placed(new Array(5).fill({}))
const DAY_MS = 86_400_000

export const cases = replayedRibbon<ServerListVector>(file, async ({ refresh, ping, steps }) => {
  let down: readonly number[] = []
  let pings = 0
  const manual: Ping = {
    name: 'manual',
    isAlive({ host }) {
      pings++
      return !down.includes(placeOf(host))
    },
  }
  const given =
    ping === 'manual'
      ? manual
      : ping === 'Dummy'
        ? dummyPing()
        : constantPing({ alive: ping === 'NoOp' || ping === 'Constant true' })
  const lb = createLoadBalancer({
    // setServersList by itself revives nobody.
    compat: refresh ? 'ribbon' : ['ribbon-counter', 'ribbon-ten-probes', 'ribbon-ping-serial'],
    seed: 1,
    services: { svc: { instances: [], healthCheck: { ping: given, intervalMs: DAY_MS } } },
  })
  const service = lb.service('svc')
  let changes = 0
  service.on('change', () => void changes++)
  let list: readonly number[] = []
  let isMarked = false
  for (const [index, { step, alive, up, pings: expected = 0, changed = false }] of steps.entries()) {
    const [kind, places = []] = step
    pings = 0
    changes = 0
    if (kind === 'list') {
      list = places
      service.update(places.map((place) => SERVERS[place] as InstanceInit))
      expect(changes > 0, `changed at step ${index}`).to.equal(changed)
    } else if (kind === 'down') {
      down = places
    }
    // A list that is another begins a round, and so does each refresh: this waits for it.
    if (kind === 'ping' || changed || (refresh && kind === 'list')) await service.check()
    // Nobody is marked by hand here: what the mark would have done until the next list or round is not looked at.
    isMarked = kind === 'mark' || (isMarked && (kind === 'down' || (kind === 'ping' && ping === 'Dummy')))
    const isAlive = list.filter((_, i) => alive[i])
    // New objects of an equal list count as dead there until they are pinged, while those who are up stay so.
    const ours = refresh ? isAlive : up
    if (!isMarked) expect(pickedOf(service, list.length), `step ${index}`).to.deep.equal([...ours].sort())
    if (ping === 'manual') expect(pings, `pings of step ${index}`).to.equal(expected)
  }
  await lb.close()
})
