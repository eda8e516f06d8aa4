/** @module The sticky-session supplier: the instance that a cookie names. */

import { expect } from 'chai'
import { type PickRequest, roundRobin, type Service, type StickySessionOptions, stickySession } from 'evenkeel'
import type { Case } from './case.js'
import { thrown } from './errors-of.js'
import { indexer, picks, serviceWith } from './services.js'

const IDS = ['i1', 'i2', 'an id; of=words', 'a%20b', 'a b']

const sticky = (options: StickySessionOptions = {}, compat: string[] = []): Service =>
  serviceWith(
    {
      instances: IDS.map((instanceId) => ({ instanceId, host: 'h' })),
      suppliers: [stickySession(options)],
      policy: roundRobin({ start: -1 }),
    },
    { compat },
  )

const withCookies = (cookie: string): PickRequest => ({ headers: { cookie } })

async function layer(service: Service, request: PickRequest) {
  const { layers, candidates } = await service.explain(request)
  return { kept: candidates.map(indexer(service)), reason: layers[1]?.reason, fellBack: layers[1]?.fellBack ?? false }
}

export const cases: Case[] = [
  {
    name: 'sticky-session: the instance that the cookie names, from cookies or from the header',
    async run() {
      const service = sticky()
      const expected = { kept: [1], reason: 'keeps "i2"', fellBack: false }
      expect(await layer(service, withCookies('a=1; sc-lb-instance-id=i2; b=i1'))).to.deep.equal(expected)
      expect(await layer(service, { cookies: { 'sc-lb-instance-id': 'i2' } })).to.deep.equal(expected)
      expect(picks(service, 3, withCookies('sc-lb-instance-id=i2'))).to.deep.equal([1, 1, 1])
    },
  },
  {
    name: 'sticky-session: no cookie is no fallback, an instance that is gone is one',
    async run() {
      const service = sticky()
      const all = IDS.map((_, i) => i)
      const none = { kept: all, reason: 'no cookie "sc-lb-instance-id"', fellBack: false }
      for (const request of [{}, withCookies('other=i1'), withCookies('sc-lb-instance-id=')]) {
        expect(await layer(service, request)).to.deep.equal(none)
      }
      const gone = { kept: all, reason: 'no instance "i9"', fellBack: true }
      expect(await layer(service, withCookies('sc-lb-instance-id=i9'))).to.deep.equal(gone)
    },
  },
  {
    name: 'sticky-session: an id written in percents is found, one that has percents itself comes first',
    async run() {
      const service = sticky()
      for (const [value, expected] of [
        ['an%20id%3B%20of%3Dwords', 2],
        ['a%20b', 3],
        ['a%2520b', 3],
      ] as [string, number][]) {
        expect((await layer(service, withCookies(`sc-lb-instance-id=${value}`))).kept).to.deep.equal([expected])
      }
      expect((await layer(service, withCookies('sc-lb-instance-id=%zz'))).reason).to.equal('no instance "%zz"')
    },
  },
  {
    name: 'sticky-session: a cookie of the user’s own choice',
    async run() {
      const service = sticky({ cookie: 'node', fallback: 'none' })
      expect((await layer(service, withCookies('node=i1'))).kept).to.deep.equal([0])
      expect((await layer(service, withCookies('node=i9'))).kept).to.deep.equal([])
    },
  },
  {
    name: 'sticky-session: picks by cookie move the rotation of the others no further than its own instance',
    run() {
      const service = sticky()
      expect(picks(service, 1)).to.deep.equal([0])
      expect(picks(service, 5, withCookies('sc-lb-instance-id=i1'))).to.deep.equal([0, 0, 0, 0, 0])
      expect(picks(service, 1)).to.deep.equal([1])
    },
  },
  {
    name: 'sticky-session, quirk cookie-split-equals: the header is one cookie',
    async run() {
      const service = sticky({}, ['cookie-split-equals'])
      expect((await layer(service, withCookies('sc-lb-instance-id=i2'))).kept).to.deep.equal([1])
      expect((await layer(service, withCookies('a=1; sc-lb-instance-id=i2'))).reason).to.contain('no cookie')
    },
  },
  {
    name: 'sticky-session: a thousand cookies in turn, each by its own instance',
    run() {
      const ids = Array.from({ length: 1000 }, (_, i) => `node-${i}`)
      const service = serviceWith({
        instances: ids.map((instanceId) => ({ instanceId, host: 'h' })),
        suppliers: ['sticky-session'],
      })
      for (let round = 0; round < 2; round++) {
        ids.forEach((id, i) => {
          expect(picks(service, 1, withCookies(`sc-lb-instance-id=${id}`))).to.deep.equal([i])
        })
      }
    },
  },
  {
    name: 'sticky-session: a cookie that browsers would refuse is refused',
    run() {
      for (const [options, option] of [
        [{ cookie: 'a=b' }, 'cookie'],
        [{ cookie: '' }, 'cookie'],
        [{ setCookie: { path: '/;x' } }, 'setCookie.path'],
        [{ setCookie: { maxAgeSeconds: -1 } }, 'setCookie.maxAgeSeconds'],
        [{ setCookie: { sameSite: 'none' } }, 'setCookie.sameSite'],
        [{ setCookie: { maxAge: 5 } }, 'setCookie.maxAge'],
        [{ addServiceInstanceCookie: 1 }, 'addServiceInstanceCookie'],
      ] as [StickySessionOptions, string][]) {
        expect(thrown(() => stickySession(options))).to.include({ option: `stickySession.${option}` })
      }
      stickySession({ setCookie: { sameSite: 'none', secure: true } })
    },
  },
]
