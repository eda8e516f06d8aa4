/** @module The version supplier: a preference by text, strict if asked to be. */

import { expect } from 'chai'
import { type InstanceInit, type PickRequest, type Service, type VersionOptions, version } from 'evenkeel'
import type { Case } from './case.js'
import { addresses, indexer, serviceWith } from './services.js'

const versioned = (...versions: (string | undefined)[]): InstanceInit[] =>
  addresses(versions.length).map((url, i) => ({
    url,
    ...(versions[i] !== undefined && { version: versions[i] as string }),
  }))

async function kept(service: Service, request: PickRequest = {}): Promise<number[]> {
  return (await service.explain(request)).candidates.map(indexer(service))
}

const asking = (value: string): PickRequest => ({ headers: { 'X-Service-Version': value } })

const with1and2 = (options?: VersionOptions) =>
  serviceWith({ instances: versioned('1', '2', '1', undefined), suppliers: [version(options)] })

export const cases: Case[] = [
  {
    name: 'version: the instances of the request’s version, all of them without one',
    async run() {
      const service = with1and2()
      expect(await kept(service, asking('1'))).to.deep.equal([0, 2])
      expect(await kept(service, asking('2'))).to.deep.equal([1])
      for (const without of [{}, asking(''), asking('  ')]) expect(await kept(service, without)).to.have.length(4)
    },
  },
  {
    name: 'version: compared letter by letter',
    async run() {
      const service = serviceWith({ instances: versioned('v1', 'V1', '1'), suppliers: [version({ strict: true })] })
      expect(await kept(service, asking('v1'))).to.deep.equal([0])
      expect(await kept(service, asking('1.0'))).to.deep.equal([])
    },
  },
  {
    name: 'version, strict: nobody rather than another version, and no fallback is counted',
    run() {
      const service = with1and2({ strict: true })
      expect(service.pick(asking('3'))).to.equal(undefined)
      expect(service.stats()).to.deep.include({ noInstance: 1, fallbacks: {} })
    },
  },
  {
    name: 'version: header and metadata of the user’s own choice',
    async run() {
      const service = serviceWith({
        instances: addresses(2).map((url, i) => ({ url, metadata: { release: `r${i}` } })),
        suppliers: [{ type: 'version', header: 'X-Release', metadata: 'release' }],
      })
      expect(await kept(service, { headers: [['x-release', 'r1']] })).to.deep.equal([1])
    },
  },
  {
    name: 'version: two of them look at metadata of their own',
    async run() {
      const service = serviceWith({
        instances: addresses(4).map((url, i) => ({ url, metadata: { version: `${i & 1}`, release: `${i >> 1}` } })),
        suppliers: ['version', version({ header: 'X-Release', metadata: 'release' })],
      })
      expect(await kept(service, { headers: { 'x-service-version': '1', 'x-release': '1' } })).to.deep.equal([3])
    },
  },
  {
    name: 'version: the reason tells no version, none with it, and no metadata apart',
    async run() {
      const reasonOf = async (service: Service, request: PickRequest) =>
        (await service.explain(request)).layers[1]?.reason
      const service = with1and2()
      expect(await reasonOf(service, {})).to.equal('no version')
      expect(await reasonOf(service, asking('2'))).to.equal('keeps version "2"')
      expect(await reasonOf(service, asking('3'))).to.equal('no instance has version "3"')
      const bare = serviceWith({ instances: addresses(2), suppliers: ['version'] })
      expect(await reasonOf(bare, asking('3'))).to.equal('no instance has version metadata')
    },
  },
  {
    name: 'version and hint: a hidden request keeps everything, whatever is configured',
    async run() {
      const service = serviceWith(
        {
          instances: addresses(2).map((url, i) => ({ url, version: `${i}`, hint: `${i}`, zone: 'here' })),
          suppliers: ['version', 'hint', 'zone-preference'],
          hints: { orders: '1' },
          callGetWithRequestOnDelegates: false,
        },
        { zone: 'here' },
      )
      expect(await kept(service, { ...asking('1'), hint: '0' })).to.deep.equal([0, 1])
    },
  },
]
