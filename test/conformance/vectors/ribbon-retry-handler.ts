/** @module Ribbon's retry handlers, and how often its properties let a call try again. */

import { expect } from 'chai'
import { type RetryHandlerName, type RetryHandlerOptions, retryHandler, type ServiceOptions } from 'evenkeel'
import { fromSpring } from 'evenkeel/spring'
import file from '../../vectors/ribbon-retry-handler.json'
import { springText } from './replay.js'
import { type RibbonVector, replayedRibbon } from './ribbon.js'
import { failureAs } from './ribbon-errors.js'

interface RetryHandlerVector extends RibbonVector {
  readonly handler?: string
  readonly retryEnabled?: boolean
  readonly okToRetryOnConnectErrors?: boolean
  readonly okToRetryOnAllErrors?: boolean
  readonly error?: string
  readonly same?: boolean
  readonly next?: boolean
  readonly trips?: boolean
  readonly properties?: Readonly<Record<string, number>>
  readonly maxSame?: number
  readonly maxNext?: number
}

const KINDS: Readonly<Record<string, RetryHandlerName>> = {
  Default: 'default',
  HttpClient: 'http-client',
  Netty: 'netty',
  'RequestSpecific<HttpClient>': 'rest-client',
}

/** As calls of a balancer with `compat: 'ribbon'` ask. */
const quirks = new Set(['ribbon-reset-is-connect', 'ribbon-trips-by-class'])

function verdicts({ handler = '', retryEnabled = false, okToRetryOnAllErrors, error = '' }: RetryHandlerVector) {
  const options: RetryHandlerOptions = { kind: KINDS[handler] as RetryHandlerName, retryOnAllOperations: retryEnabled }
  const { retriable, trips } = retryHandler(options)
  // RestClient has all errors of a GET tried again, of other methods only those of connecting.
  const failure = { ...failureAs(error), method: okToRetryOnAllErrors ? 'GET' : 'POST', quirks }
  return { same: retriable(failure, true), next: retriable(failure, false), trips: trips(failure) }
}

function retries(properties: Readonly<Record<string, number>>) {
  const text = springText({ 'svc.ribbon.listOfServers': 'unused:80', ...properties }, '')
  const { options } = fromSpring(text, { format: 'properties' })
  const { retry } = (options.services?.svc ?? {}) as ServiceOptions
  const { maxRetriesOnSameServiceInstance = 0, maxRetriesOnNextServiceInstance = 1 } = retry || {}
  return { maxSame: maxRetriesOnSameServiceInstance, maxNext: maxRetriesOnNextServiceInstance }
}

export const cases = replayedRibbon<RetryHandlerVector>(file, (vector) => {
  const { properties, same, next, trips, maxSame, maxNext } = vector
  if (properties === undefined) expect(verdicts(vector)).to.deep.equal({ same, next, trips })
  else expect(retries(properties)).to.deep.equal({ maxSame, maxNext })
})
