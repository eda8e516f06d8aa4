/** @module Nothing of the replayed topics of Ribbon is left out without a reason that a vector meets. */

import { expect } from 'chai'
import availability from '../../vectors/ribbon-availability-filtering.json'
import bestAvailable from '../../vectors/ribbon-best-available.json'
import roundRobin from '../../vectors/ribbon-round-robin.json'
import zoneAvoidance from '../../vectors/ribbon-zone-avoidance.json'
import type { Case } from '../case.js'
import { EXCEPTIONS, exceptionOf } from './ribbon-without-counterpart.js'

const FILES: readonly { vectors: readonly { id: string }[] }[] = [
  availability,
  bestAvailable,
  roundRobin,
  zoneAvoidance,
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
