/** @module Signals and time limits: who ended a call, how it counts, and that nothing stays in flight. */

import { expect } from 'chai'
import { attemptsOf, createLoadBalancer, roundRobin, type ServiceOptions } from 'evenkeel'
import type { Case, Context } from './case.js'
import { rejected } from './errors-of.js'
import { control, echoOf, newToken } from './servers.js'
import { endings, inFlight } from './services.js'

/** Long enough for an answer over loopback on a busy machine, short enough to wait for. */
const LIMIT_MS = 100

function overAB(context: Context, options: ServiceOptions = {}) {
  const { a, b } = context.backends
  const lb = createLoadBalancer({
    services: { orders: { instances: [a, b], policy: roundRobin({ start: -1 }), ...options } },
  })
  return { lb, service: lb.service('orders') }
}

export const cases: Case[] = [
  {
    name: 'signal: an aborted call is cancelled, not failed, not tried again, and ends at the server',
    async run(context) {
      for (const limits of [{}, { timeoutMs: 10_000, attemptTimeoutMs: 10_000 }]) {
        const { lb, service } = overAB(context, limits)
        const token = newToken(context)
        const stop = new AbortController()
        const call = rejected(lb.fetch(`http://orders/hang?token=${token}`, { signal: stop.signal }))
        await control(context, 'arrived', token)
        expect(inFlight(service)).to.equal(1)
        stop.abort()
        expect(await call).to.have.property('name', 'AbortError')
        await control(context, 'closed', token)
        expect(endings(service)).to.deep.equal([0, 0, 1])
        expect(inFlight(service)).to.equal(0)
      }
    },
  },
  {
    name: 'signal: of a Request is honoured',
    async run(context) {
      const { lb, service } = overAB(context)
      const token = newToken(context)
      const stop = new AbortController()
      const request = new Request(`http://orders/hang?token=${token}`, { signal: stop.signal })
      const call = rejected(lb.fetch(request))
      await control(context, 'arrived', token)
      stop.abort()
      expect(await call).to.have.property('name', 'AbortError')
      await control(context, 'closed', token)
      expect(endings(service)).to.deep.equal([0, 0, 1])
    },
  },
  {
    name: 'signal: aborted before the call, nothing is sent',
    async run(context) {
      const { lb, service } = overAB(context)
      expect(await rejected(lb.fetch('http://orders/x', { signal: AbortSignal.abort() }))).to.have.property(
        'name',
        'AbortError',
      )
      const [successes, failures] = endings(service)
      expect([successes, failures, inFlight(service)]).to.deep.equal([0, 0, 0])
    },
  },
  {
    name: 'signal: ends the wait for the first list, with its reason',
    async run() {
      const lb = createLoadBalancer({
        services: { orders: { discovery: { name: 'silent', get: () => new Promise<never>(() => {}) } } },
      })
      const stop = new AbortController()
      const reason = new Error('enough')
      const call = rejected(lb.fetch('http://orders/x', { signal: stop.signal }))
      stop.abort(reason)
      expect(await call).to.equal(reason)
      await lb.close()
    },
  },
  {
    name: 'signal: one not aborted changes nothing',
    async run(context) {
      const { lb, service } = overAB(context, { timeoutMs: 5_000, attemptTimeoutMs: 5_000 })
      const stop = new AbortController()
      for (let i = 0; i < 5; i++) await echoOf(await lb.fetch('http://orders/x', { signal: stop.signal }))
      expect(endings(service)).to.deep.equal([5, 0, 0])
    },
  },
  {
    name: 'attemptTimeoutMs: moves on to the second instance; the first attempt is a failure and ends at the server',
    async run(context) {
      const { lb, service } = overAB(context, { attemptTimeoutMs: LIMIT_MS })
      await (await fetch(`${context.backends.b}/warm`)).text()
      const token = newToken(context)
      const response = await lb.fetch(`http://orders/hang?on=a&token=${token}`)
      expect((await echoOf(response)).instance).to.equal('b')
      expect(attemptsOf(response)[0]?.error).to.include({ code: 'EVENKEEL_TIMEOUT', serviceId: 'orders' })
      await control(context, 'closed', token)
      expect(endings(service)).to.deep.equal([1, 1, 0])
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'attemptTimeoutMs: a POST is not repeated: EVENKEEL_TIMEOUT',
    async run(context) {
      const { lb, service } = overAB(context, { attemptTimeoutMs: 30 })
      const error = await rejected(lb.fetch('http://orders/hang', { method: 'POST', body: 'text' }))
      expect(error).to.include({ code: 'EVENKEEL_TIMEOUT', serviceId: 'orders' })
      expect(attemptsOf(error).length).to.equal(1)
      expect(endings(service)).to.deep.equal([0, 1, 0])
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'attemptTimeoutMs: ends an attempt at a fetcher that ignores its signal',
    async run(context) {
      const deaf = { fetch: () => new Promise<Response>(() => {}) }
      const instances = [{ instanceId: 'deaf', fetcher: deaf }, context.backends.a]
      const { lb, service } = overAB(context, { instances, attemptTimeoutMs: LIMIT_MS })
      const response = await lb.fetch('http://orders/x')
      expect((await echoOf(response)).instance).to.equal('a')
      expect(attemptsOf(response)[0]?.error).to.include({ code: 'EVENKEEL_TIMEOUT', serviceId: 'orders' })
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'signal: ends a call at a fetcher that ignores it',
    async run(context) {
      const deaf = { fetch: () => new Promise<Response>(() => {}) }
      const { lb, service } = overAB(context, { instances: [{ instanceId: 'deaf', fetcher: deaf }] })
      const stop = new AbortController()
      const call = rejected(lb.fetch('http://orders/x', { signal: stop.signal }))
      stop.abort()
      expect(await call).to.have.property('name', 'AbortError')
      expect(endings(service)).to.deep.equal([0, 0, 1])
    },
  },
  {
    name: 'timeoutMs: ends the call over all its attempts with EVENKEEL_TIMEOUT',
    async run(context) {
      const { lb, service } = overAB(context, { timeoutMs: LIMIT_MS, attemptTimeoutMs: 60 })
      const error = await rejected(lb.fetch('http://orders/hang'))
      expect(error).to.include({ code: 'EVENKEEL_TIMEOUT', serviceId: 'orders' })
      expect(attemptsOf(error).length).to.equal(2)
      expect(inFlight(service)).to.equal(0)
      expect(endings(service)).to.deep.equal([0, 2, 0])
    },
  },
  {
    name: 'timeoutMs: of one call, through with()',
    async run(context) {
      const { lb, service } = overAB(context)
      const error = await rejected(lb.with({ timeoutMs: 30 }).fetch('http://orders/hang'))
      expect(error).to.include({ code: 'EVENKEEL_TIMEOUT' })
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'timeoutMs: ends the wait for the first list with EVENKEEL_TIMEOUT',
    async run() {
      const lb = createLoadBalancer({
        services: {
          orders: { discovery: { name: 'silent', get: () => new Promise<never>(() => {}) }, timeoutMs: 30 },
        },
      })
      expect(await rejected(lb.fetch('http://orders/x'))).to.include({ code: 'EVENKEEL_TIMEOUT', serviceId: 'orders' })
      await lb.close()
    },
  },
  {
    name: 'timeoutMs: does not cut a body that takes longer than the headers may',
    async run(context) {
      const { lb } = overAB(context, { timeoutMs: LIMIT_MS, attemptTimeoutMs: LIMIT_MS })
      await (await fetch(`${context.backends.a}/warm`)).text()
      const token = newToken(context)
      const response = await lb.fetch(`http://orders/drip?token=${token}`)
      await new Promise((resolve) => setTimeout(resolve, LIMIT_MS + 20))
      await control(context, 'go', token)
      expect(await response.text()).to.equal('firstsecond')
    },
  },
]
