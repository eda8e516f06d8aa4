/** @module Nothing is left out that could be replayed: every exception is met by a vector, and a topic has one at least. */

import { expect } from 'chai'
import apiVersion from '../../vectors/sclb-api-version.json'
import binding from '../../vectors/sclb-binding.json'
import caching from '../../vectors/sclb-caching.json'
import chain from '../../vectors/sclb-chain.json'
import cookies from '../../vectors/sclb-cookies.json'
import healthCheck from '../../vectors/sclb-health-check.json'
import healthUrl from '../../vectors/sclb-health-url.json'
import hint from '../../vectors/sclb-hint.json'
import retry from '../../vectors/sclb-retry.json'
import retryAware from '../../vectors/sclb-retry-aware.json'
import retryPolicy from '../../vectors/sclb-retry-policy.json'
import roundRobin from '../../vectors/sclb-round-robin.json'
import sameInstance from '../../vectors/sclb-same-instance.json'
import sticky from '../../vectors/sclb-sticky.json'
import subset from '../../vectors/sclb-subset.json'
import transformers from '../../vectors/sclb-transformers.json'
import uri from '../../vectors/sclb-uri.json'
import weighted from '../../vectors/sclb-weighted.json'
import zone from '../../vectors/sclb-zone.json'
import type { Case } from '../case.js'
import { EXCEPTIONS, exceptionOf, replayable, type Vector } from './without-counterpart.js'

const FILES: readonly { topic: string; vectors: readonly Vector[] }[] = [
  apiVersion,
  binding,
  caching,
  chain,
  cookies,
  healthCheck,
  healthUrl,
  hint,
  retry,
  retryAware,
  retryPolicy,
  roundRobin,
  sameInstance,
  sticky,
  subset,
  transformers,
  uri,
  weighted,
  zone,
]

export const cases: Case[] = [
  {
    name: 'SCLB’s vectors: each reason to leave one out is met, and no topic is left out',
    run() {
      const met = new Set(FILES.flatMap(({ vectors }) => vectors.map(exceptionOf)))
      expect(EXCEPTIONS.filter((exception) => !met.has(exception)).map(({ reason }) => reason)).to.deep.equal([])
      for (const { topic, vectors } of FILES) expect(replayable(vectors).length, topic).to.be.greaterThan(0)
    },
  },
]
