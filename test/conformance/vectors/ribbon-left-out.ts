/** @module Nothing of the replayed topics of Ribbon is left out without a reason that a vector meets. */

import { expect } from 'chai'
import availability from '../../vectors/ribbon-availability-filtering.json'
import bestAvailable from '../../vectors/ribbon-best-available.json'
import command from '../../vectors/ribbon-command.json'
import ping from '../../vectors/ribbon-ping.json'
import predicate from '../../vectors/ribbon-predicate.json'
import random from '../../vectors/ribbon-random.json'
import retryHandler from '../../vectors/ribbon-retry-handler.json'
import retryRule from '../../vectors/ribbon-retry-rule.json'
import roundRobin from '../../vectors/ribbon-round-robin.json'
import server from '../../vectors/ribbon-server.json'
import serverList from '../../vectors/ribbon-server-list.json'
import serverStats from '../../vectors/ribbon-server-stats.json'
import subsetFilter from '../../vectors/ribbon-subset-filter.json'
import weightedResponseTime from '../../vectors/ribbon-weighted-response-time.json'
import zoneAvoidance from '../../vectors/ribbon-zone-avoidance.json'
import zoneFilter from '../../vectors/ribbon-zone-filter.json'
import zones from '../../vectors/ribbon-zones.json'
import type { Case } from '../case.js'
import { EXCEPTIONS, exceptionOf } from './ribbon-without-counterpart.js'

const FILES: readonly { vectors: readonly { id: string }[] }[] = [
  availability,
  bestAvailable,
  command,
  ping,
  predicate,
  random,
  retryHandler,
  retryRule,
  serverList,
  roundRobin,
  server,
  serverStats,
  subsetFilter,
  weightedResponseTime,
  zoneAvoidance,
  zoneFilter,
  zones,
]

export const cases: Case[] = [
  {
    name: 'Ribbon’s vectors: each reason to leave one out is met',
    run() {
      const met = new Set(FILES.flatMap(({ vectors }) => vectors.map(exceptionOf)))
      expect(EXCEPTIONS.filter((exception) => !met.has(exception)).map(({ reason }) => reason)).to.deep.equal([])
    },
  },
]
