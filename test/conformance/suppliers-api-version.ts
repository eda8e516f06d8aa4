/** @module The api-version supplier: versions of numbers, where a request names them and which an instance serves. */

import { expect } from 'chai'
import {
  type ApiVersionOptions,
  apiVersion,
  type PickRequest,
  type Service,
  type Supplier,
  zonePreference,
} from 'evenkeel'
import type { Case } from './case.js'
import { rejected, thrown } from './errors-of.js'
import { addresses, indexer, serviceWith } from './services.js'

/** A service whose instances have these versions. */
function serving(versions: (string | undefined)[], options: ApiVersionOptions = {}, compat: string[] = []): Service {
  const instances = addresses(versions.length).map((url, i) => ({
    url,
    metadata: versions[i] === undefined ? {} : { API_VERSION: versions[i] as string },
  }))
  return serviceWith({ instances, suppliers: [apiVersion(options)] }, { compat })
}

async function kept(service: Service, request: PickRequest = {}): Promise<number[]> {
  return (await service.explain(request)).candidates.map(indexer(service))
}

async function reasonOf(service: Service, request: PickRequest = {}): Promise<string | undefined> {
  return (await service.explain(request)).layers[1]?.reason
}

const asking = (version: string): PickRequest => ({ headers: { 'X-API-Version': version } })

const resolving: Case[] = [
  {
    name: 'api-version: SCLB’s examples',
    async run() {
      const versions = ['1', '2', undefined]
      expect(await kept(serving(versions), asking('1.0'))).to.deep.equal([0])
      expect(await kept(serving(versions))).to.deep.equal([])
      expect(await kept(serving(versions, { fallback: 'all' }))).to.deep.equal([0, 1, 2])
      expect(await kept(serving(versions, { default: '2' }))).to.deep.equal([1])
    },
  },
  {
    name: 'api-version: header before query before path before media type; the first that finds one wins',
    async run() {
      const service = serving(['1', '2', '3', '4', '5'], {
        header: 'X-V',
        query: 'v',
        pathSegment: 1,
        mediaType: { 'application/json': 'version' },
        default: '5',
      })
      const accept = 'application/json;version=4'
      const url = 'http://orders/api/3/stock?v=2'
      expect(await kept(service, { url, headers: { 'x-v': '1', accept } })).to.deep.equal([0])
      expect(await kept(service, { url, headers: { accept } })).to.deep.equal([1])
      expect(await kept(service, { url: '/api/3/stock?w=2', headers: { accept } })).to.deep.equal([2])
      expect(await kept(service, { url: '/api', headers: { accept } })).to.deep.equal([3])
      expect(await kept(service, { url: '/' })).to.deep.equal([4])
    },
  },
  {
    name: 'api-version: a path segment or a query of any form of URL',
    async run() {
      const service = serving(['1', '2'], { query: 'v', pathSegment: 0 })
      for (const url of [
        '/2/x',
        '//orders//2',
        'http://orders/2#/1',
        'http://orders:80/2?w=1',
        new URL('http://o/2/1'),
      ]) {
        expect(await kept(service, { url }), String(url)).to.deep.equal([1])
      }
      for (const url of ['/1?v=2', '?v=%32', 'http://orders?w=1&v=2&v=1', '/stock?v=2#?v=1']) {
        expect(await kept(service, { url }), url).to.deep.equal([1])
      }
    },
  },
  {
    name: 'api-version: media types are compared as Spring does, the first compatible one decides',
    async run() {
      const service = serving(['1', '2'], { mediaType: { 'application/*+json': 'version' }, fallback: 'none' })
      for (const [headers, expected] of [
        [{ accept: 'application/vnd.shop+json;q=1;VERSION="2"' }, [1]],
        [{ accept: 'text/html;version=1, Application/Vnd.A+JSON ; version=2' }, [1]],
        [{ 'content-type': 'application/json; version=2' }, [1]],
        [{ accept: 'text/html', 'content-type': 'application/a+json;version=2' }, [1]],
        [{ accept: 'application/*;version=1', 'content-type': 'application/a+json;version=2' }, [0]],
        [{ accept: '*/*', 'content-type': 'application/a+json;version=2' }, []],
        [{ accept: 'application/xml;version=2' }, []],
        [{ accept: 'application/a+json;x="a,b;version=1";version=2' }, [1]],
      ] as [Record<string, string>, number[]][]) {
        expect(await kept(service, { headers }), JSON.stringify(headers)).to.deep.equal(expected)
      }
      const plain = serving(['1'], { mediaType: { 'application/json': 'version' } })
      expect(await kept(plain, { headers: { accept: 'application/xson;version=1' } })).to.deep.equal([])
    },
  },
  {
    name: 'api-version: leading letters are skipped, missing parts are 0',
    async run() {
      const service = serving(['v1', '1.2', 'version-1.2.3', '1.0.0'])
      for (const [asked, expected] of [
        ['1', [0, 3]],
        ['v01.0', [0, 3]],
        ['1.2', [1]],
        ['api-1.2.3', [2]],
      ] as [string, number[]][]) {
        expect(await kept(service, asking(asked)), asked).to.deep.equal(expected)
      }
    },
  },
  {
    name: 'api-version: a request’s version that is none is served by nobody, without a fallback; by quirk it fails the pick',
    async run() {
      const options = { default: '1', fallback: 'all' as const }
      const service = serving(['1'], options)
      const asSpring = serving(['1'], options, ['api-version-bad-request'])
      for (const wrong of ['', 'v', '1a', '1.0.0.0', '1.', '1-2', '2+', '1,2', '99999999999']) {
        expect(service.pick(asking(wrong)), wrong).to.equal(undefined)
        const [, layer] = (await service.explain(asking(wrong))).layers
        expect([layer?.out, layer?.fellBack]).to.deep.equal([0, undefined])
        expect(layer?.reason).to.contain('major[.minor[.patch]]')
        const error = thrown(() => asSpring.pick(asking(wrong)))
        expect(error, wrong).to.include({ code: 'EVENKEEL_CONFIG', option: 'api-version', serviceId: 'orders' })
        expect(await rejected(asSpring.explain(asking(wrong)))).to.include({ code: 'EVENKEEL_CONFIG' })
      }
      for (const each of [service, asSpring]) expect(each.stats().instances[0]).to.include({ picks: 0, inFlight: 0 })
    },
  },
]

const serve: Case[] = [
  {
    name: 'api-version: an instance may serve several versions and ranges, ends included',
    async run() {
      const service = serving(['1,2', '2+', '1-3', '1.2 - 2.0', 'v1 - v3, 5', '4.1+'])
      for (const [asked, expected] of [
        ['1', [0, 2, 4]],
        ['1.2', [2, 3, 4]],
        ['2', [0, 1, 2, 3, 4]],
        ['2.0.1', [1, 2, 4]],
        ['3', [1, 2, 4]],
        ['3.0.1', [1]],
        ['4.1', [1, 5]],
        ['5', [1, 4, 5]],
        ['0.9', []],
      ] as [string, number[]][]) {
        expect(await kept(service, asking(asked)), asked).to.deep.equal(expected)
      }
    },
  },
  {
    name: 'api-version: what can’t be read of an instance never matches and is named',
    async run() {
      const service = serving(['1', 'latest', '2,x', '3-1'])
      expect(await kept(service, asking('1'))).to.deep.equal([0])
      expect(await kept(service, asking('2'))).to.deep.equal([2])
      const bad = '; unreadable: "10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080"'
      expect(await reasonOf(service, asking('1'))).to.equal(`keeps API_VERSION "1"${bad}`)
      expect(await reasonOf(service, asking('9'))).to.equal(`no instance has API_VERSION "9"${bad}`)
    },
  },
  {
    name: 'api-version, quirk api-version-bad-instance: one that can’t be read fails the pick',
    run() {
      const service = serving(['1', 'latest'], {}, ['api-version-bad-instance'])
      const error = thrown(() => service.pick(asking('1')))
      expect(error).to.include({ code: 'EVENKEEL_CONFIG', option: 'api-version' })
      expect((error as Error).message)
        .to.contain('"10.0.0.1:8080"')
        .and.to.contain('"latest"')
      expect(service.pick()).to.equal(undefined)
    },
  },
  {
    name: 'api-version: metadata of the user’s own choice, and no metadata at all',
    async run() {
      const service = serviceWith({
        instances: addresses(2).map((url, i) => ({ url, metadata: { api: `${i}` } })),
        suppliers: [{ type: 'api-version', metadata: 'api' }, 'weighted'],
      })
      expect(await kept(service, asking('1'))).to.deep.equal([1])
      expect(await reasonOf(serving([undefined]), asking('1'))).to.equal('no instance has API_VERSION metadata')
    },
  },
]

const missing: Case[] = [
  {
    name: 'api-version, required: a request without a version gets nobody, whatever the fallback',
    async run() {
      const service = serving(['1', '2'], { required: true, fallback: 'all' })
      expect(await kept(service)).to.deep.equal([])
      expect(await reasonOf(service)).to.contain('required')
      expect(service.pick()).to.equal(undefined)
      expect(service.stats().fallbacks).to.deep.equal({})
      expect(await kept(service, asking('2'))).to.deep.equal([1])
      expect(await kept(service, asking('3'))).to.deep.equal([0, 1])
    },
  },
  {
    name: 'api-version, quirk api-version-required-ignored: as if nothing were required',
    async run() {
      const service = serving(['1', '2'], { required: true, fallback: 'all' }, ['api-version-required-ignored'])
      expect(await kept(service)).to.deep.equal([0, 1])
    },
  },
  {
    name: 'api-version: required and a default contradict each other',
    run() {
      const error = thrown(() => apiVersion({ required: true, default: '1' }))
      expect(error).to.include({ code: 'EVENKEEL_CONFIG', option: 'apiVersion.required' })
    },
  },
  {
    name: 'api-version: a request hidden by another supplier counts as one without a version',
    async run() {
      const within = (options: ApiVersionOptions, ...outer: Supplier[]) =>
        serviceWith({
          instances: ['1', '2'].map((version, i) => ({
            url: addresses(2)[i] as string,
            metadata: { API_VERSION: version },
          })),
          suppliers: [apiVersion(options), ...outer],
          callGetWithRequestOnDelegates: false,
        })
      const zones = zonePreference()
      expect(await kept(within({ default: '2' }, zones), asking('1'))).to.deep.equal([1])
      expect(await kept(within({}, zones), asking('1'))).to.deep.equal([])
      expect(await kept(within({ fallback: 'all', required: true }, zones), asking('1'))).to.deep.equal([0, 1])
      // It hides the request from what is inside of it, not from itself.
      expect(await kept(within({ default: '2' }), asking('1'))).to.deep.equal([0])
    },
  },
  {
    name: 'api-version: options that can’t be used are named',
    run() {
      for (const [options, option] of [
        [{ default: 'latest' }, 'default'],
        [{ pathSegment: -1 }, 'pathSegment'],
        [{ mediaType: { json: 'version' } }, 'mediaType.json'],
        [{ mediaType: {} }, 'mediaType'],
        [{ header: '' }, 'header'],
        [{ strict: true }, 'strict'],
      ] as [ApiVersionOptions, string][]) {
        expect(thrown(() => apiVersion(options))).to.include({ option: `apiVersion.${option}` })
      }
    },
  },
]

export const cases: Case[] = [...resolving, ...serve, ...missing]
