/** @module What observers hear of a call, over real connections. */

import { expect } from 'chai'
import { createLoadBalancer, type Lifecycle, roundRobin, type ServiceOptions } from 'evenkeel'
import type { Case, Context } from './case.js'
import { rejected } from './errors-of.js'
import { control, newToken } from './servers.js'

type Place = keyof Context['backends']
type Completed = Parameters<NonNullable<Lifecycle['onComplete']>>[0]

/** Goes to these places in this order, and notes each event as "what attempt where how". */
function observed(context: Context, places: readonly Place[], options: ServiceOptions = {}) {
  const story: string[] = []
  const completed: Completed[] = []
  const observer: Lifecycle = {
    onStart: ({ attempt }) => void story.push(`start ${attempt}`),
    onStartRequest: ({ attempt, lease, candidates }) =>
      void story.push(`send ${attempt} ${lease.instance.instanceId} of ${candidates}`),
    onComplete(event) {
      completed.push(event)
      story.push([`complete ${event.attempt}`, event.instance?.instanceId, event.status].filter(Boolean).join(' '))
    },
  }
  const instances = places.map((place) => ({ url: context.backends[place], instanceId: place }))
  const lb = createLoadBalancer({
    lifecycle: [observer],
    services: { orders: { instances, policy: roundRobin({ start: -1 }), ...options } },
  })
  return { lb, story, completed }
}

/** Whether the runtime has an AsyncLocalStorage, and in which of its two places. */
function followsAwaits(): boolean {
  const { process } = globalThis as { process?: { getBuiltinModule?(id: string): object | undefined } }
  return process?.getBuiltinModule?.('node:async_hooks') !== undefined || 'AsyncLocalStorage' in globalThis
}

export const cases: Case[] = [
  {
    name: 'lifecycle: an answer is told before the selection, before it is sent, and with its response',
    async run(context) {
      const { lb, story, completed } = observed(context, ['a', 'b'])
      const response = await lb.fetch('http://orders/status/500')
      expect(story).to.deep.equal(['start 1', 'send 1 a of 2', 'complete 1 a SUCCESS'])
      expect(completed[0]?.response).to.equal(response)
      expect(completed[0]?.durationMs).to.be.at.least(0)
      expect(await response.text()).to.equal('status 500')
    },
  },
  {
    name: 'lifecycle: each attempt of a retried call is completed, the first as failed',
    async run(context) {
      const { lb, story, completed } = observed(context, ['refused', 'a'])
      await lb.fetch('http://orders/x')
      expect(story).to.deep.equal([
        'start 1',
        'send 1 refused of 2',
        'complete 1 refused FAILED',
        'start 2',
        'send 2 a of 1',
        'complete 2 a SUCCESS',
      ])
      expect(completed.map(({ previous }) => previous.map(({ instanceId }) => instanceId))).to.deep.equal([
        [],
        ['refused'],
      ])
    },
  },
  {
    name: 'lifecycle: a call without an instance is discarded once and never sent',
    async run(context) {
      const { lb, story } = observed(context, [])
      const error = await rejected(lb.fetch('http://orders/x'))
      expect(error).to.include({ code: 'EVENKEEL_NO_INSTANCE' })
      expect(story).to.deep.equal(['start 1', 'complete 1 DISCARD'])
    },
  },
  {
    name: 'lifecycle: an aborted call is cancelled, one that takes too long has failed',
    async run(context) {
      const aborted = observed(context, ['a'])
      const token = newToken(context)
      const stop = new AbortController()
      const call = rejected(aborted.lb.fetch(`http://orders/hang?token=${token}`, { signal: stop.signal }))
      await control(context, 'arrived', token)
      stop.abort()
      await call
      expect(aborted.story.at(-1)).to.equal('complete 1 a CANCELLED')
      const slow = observed(context, ['a'], { attemptTimeoutMs: 30, retry: false })
      await rejected(slow.lb.fetch('http://orders/hang'))
      expect(slow.story.at(-1)).to.equal('complete 1 a FAILED')
    },
  },
  {
    name: 'lifecycle: an observer’s own calls, made at once, are not told',
    async run(context) {
      let heard = 0
      const inner: Promise<Response>[] = []
      const lb = createLoadBalancer({
        lifecycle: [
          {
            onComplete() {
              heard++
              inner.push(lb.fetch('http://orders/inner'))
            },
          },
        ],
        services: { orders: [context.backends.a] },
      })
      await (await lb.fetch('http://orders/x')).text()
      for (const response of await Promise.all(inner)) await response.text()
      expect([heard, inner.length]).to.deep.equal([1, 1])
    },
  },
  {
    name: 'lifecycle: an observer’s own calls are not told after an await either, where the runtime follows those',
    async run(context) {
      let heard = 0
      let lastCall: Promise<string> | undefined
      const lb = createLoadBalancer({
        lifecycle: [
          {
            async onStart() {
              if (++heard > 2) return
              await Promise.resolve()
              lastCall = lb.fetch('http://orders/inner').then((response) => response.text())
            },
          },
        ],
        services: { orders: [context.backends.a] },
      })
      await (await lb.fetch('http://orders/x')).text()
      await lastCall
      expect(heard).to.equal(followsAwaits() ? 1 : 3)
    },
  },
  {
    name: 'lifecycle: meters tell answers, failures, discards and what is under way',
    async run(context) {
      const { a, refused } = context.backends
      const metered = { metrics: {}, retry: false } as const
      const lb = createLoadBalancer({
        services: {
          orders: { instances: [{ url: a, instanceId: 'a' }], ...metered },
          broken: { instances: [{ url: refused, instanceId: 'r' }], ...metered },
          empty: { instances: [], ...metered },
        },
      })
      const told = (serviceId: 'orders' | 'broken' | 'empty') =>
        lb
          .service(serviceId)
          .stats()
          .meters.map(({ name, tags, count }) => [
            name.replace('loadbalancer.requests.', ''),
            tags['serviceInstance.instanceId'],
            tags.uri,
            tags.status,
            count,
          ])
      await (await lb.fetch('http://orders/status/404?x', { method: 'POST' })).text()
      expect(told('orders')).to.deep.equal([
        ['active', 'a', undefined, undefined, 0],
        ['success', 'a', '/status/404', '404', 1],
      ])
      await rejected(lb.fetch('http://broken/x'))
      expect(told('broken')).to.deep.equal([
        ['active', 'r', undefined, undefined, 0],
        ['failed', 'r', '/x', undefined, 1],
      ])
      await rejected(lb.fetch('http://empty/x'))
      expect(told('empty')).to.deep.equal([['discard', undefined, '/x', undefined, 1]])
      expect(lb.service('orders').stats().selectionMs).to.be.at.least(0)
    },
  },
]
