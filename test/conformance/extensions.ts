/** @module Suppliers and policies of the user's own. */

import { expect } from 'chai'
import { createLoadBalancer, type Policy, roundRobin, type Supplier } from 'evenkeel'
import type { Case } from './case.js'
import { rejected, thrown } from './errors-of.js'
import { addresses, inFlight, picks, serviceWith } from './services.js'

const policy = (pick: Policy['pick']): Policy => ({ name: 'own', pick })

export const cases: Case[] = [
  {
    name: 'own supplier: its sub-list is what the policy gets, and it is asked once a memo key',
    run() {
      let asked = 0
      const tenants: Supplier = {
        name: 'tenants',
        memoKey: (request) => String(request.attributes?.tenant),
        filter(list, request) {
          asked++
          return request.attributes?.tenant === 'even' ? list.filter((_, i) => i % 2 === 0) : list
        },
      }
      const service = serviceWith({ instances: addresses(4), suppliers: [tenants], policy: roundRobin({ start: -1 }) })
      expect(picks(service, 4, { attributes: { tenant: 'even' } })).to.deep.equal([0, 2, 0, 2])
      expect(new Set(picks(service, 4, { attributes: { tenant: 'odd' } })).size).to.equal(4)
      expect(asked).to.equal(2)
    },
  },
  {
    name: 'own supplier: without a memo key it is asked for each pick; its fallback and picks are told',
    run() {
      const selected: string[] = []
      const flaky: Supplier = {
        name: 'flaky',
        filter: (list) => ({ list, fellBack: true, reason: 'nothing matched' }),
        selected: ({ instanceId }) => selected.push(instanceId),
      }
      const service = serviceWith({ instances: addresses(2), suppliers: [flaky], policy: roundRobin({ start: -1 }) })
      picks(service, 3)
      expect(service.stats().fallbacks.flaky).to.be.at.least(3)
      expect(selected).to.deep.equal(['10.0.0.0:8080', '10.0.0.1:8080', '10.0.0.0:8080'])
    },
  },
  {
    name: 'own supplier: one that returns what it was not given is a typed error',
    run() {
      const inventing: Supplier = { name: 'inventing', filter: (list) => list.map((instance) => ({ ...instance })) }
      const service = serviceWith({ instances: addresses(2), suppliers: [inventing] })
      expect(thrown(() => service.pick())).to.include({ code: 'EVENKEEL_CONFIG', option: 'suppliers' })
    },
  },
  {
    name: 'own supplier: one that throws fails the call with its own error',
    async run() {
      const mistake = new Error('mistake')
      const throwing: Supplier = {
        name: 'throwing',
        filter() {
          throw mistake
        },
      }
      const lb = createLoadBalancer({ services: { orders: { instances: addresses(2), suppliers: [throwing] } } })
      expect(thrown(() => lb.pick('orders'))).to.equal(mistake)
      expect(await rejected(lb.fetch('http://orders/'))).to.equal(mistake)
    },
  },
  {
    name: 'own policy: sees weights, requests in flight and latency; hears of outcomes',
    run() {
      const heard: unknown[] = []
      const seen: number[][] = []
      const own: Policy = {
        name: 'own',
        pick(candidates) {
          seen.push(Array.from({ length: candidates.length }, (_, i) => candidates.inFlight(i)))
          let best = 0
          for (let i = 1; i < candidates.length; i++) if (candidates.weight(i) > candidates.weight(best)) best = i
          return best
        },
        done: (instance, outcome, latencyMs) => heard.push([instance.instanceId, outcome.status, latencyMs]),
      }
      const service = serviceWith({
        instances: [
          { url: 'http://10.0.0.0:80', weight: 1 },
          { url: 'http://10.0.0.1:80', weight: 5 },
        ],
        suppliers: ['weighted'],
        policy: own,
      })
      const held = service.pick()
      service.pick()?.done({ status: 200, latencyMs: 12 })
      held?.done({ cancelled: true })
      expect(seen).to.deep.equal([
        [0, 0],
        [0, 1],
      ])
      expect(heard).to.deep.equal([
        ['10.0.0.1:80', 200, 12],
        ['10.0.0.1:80', undefined, Number.NaN],
      ])
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'own policy: draws from the service’s own generator, so a seed repeats it',
    run() {
      const drawing = policy((candidates, { random }) => Math.floor(random() * candidates.length))
      const draw = (seed: number) => picks(serviceWith({ instances: addresses(10), policy: drawing }, { seed }), 50)
      expect(draw(3)).to.deep.equal(draw(3))
      expect(draw(3)).not.to.deep.equal(draw(4))
    },
  },
  {
    name: 'own policy: −1 is no instance, an index out of range a typed error',
    run() {
      expect(serviceWith({ instances: addresses(2), policy: policy(() => -1) }).pick()).to.equal(undefined)
      for (const wrong of [2, -2, 0.5, Number.NaN]) {
        const service = serviceWith({ instances: addresses(2), policy: policy(() => wrong) })
        expect(thrown(() => service.pick())).to.include({ code: 'EVENKEEL_CONFIG', option: 'policy' })
      }
    },
  },
  {
    name: 'own policy: may wrap a built-in one',
    run() {
      const inner = roundRobin({ start: -1 })
      const service = serviceWith({
        instances: addresses(3),
        policy: policy((candidates, context) => inner.pick(candidates, context)),
      })
      expect(new Set(picks(service, 3)).size).to.equal(3)
    },
  },
]
