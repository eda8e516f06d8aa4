import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coreOf } from '../../bindings/core/core.js'
import {
  aperture,
  apiVersion,
  canary,
  createLoadBalancer,
  hint,
  type InstanceInit,
  type PickRequest,
  rendezvousSubset,
  type ServiceInstance,
  type Supplier,
  sameInstancePreference,
  stickySession,
  subset,
  version,
  weighted,
  zonePreference,
} from '../../bindings/index.js'
import { pointOf } from '../../bindings/supplier/key-point.js'
import { isWithin, rangesOf, type SemanticVersion, versionOf } from '../../bindings/supplier/semantic-version.js'
import { stickyOf } from '../../bindings/supplier/sticky-session.js'

const SEED = { seed: 20_260_101 }

const optional = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined })

const metadata = fc
  .record({
    zone: optional('east', 'EAST', 'west'),
    hint: optional('v1', 'v2', 'default'),
    version: optional('1', '2'),
    API_VERSION: optional('1', 'v1.0', '1,2', '2+', '1-3', 'latest'),
    canary: optional('true', 'false'),
    stable: optional('true'),
    weight: optional('0', '1', '3', 'heavy'),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))

/** Of up to 150 instances, in any order of their ids: below and above the width of a SIMD scan. */
const lists = fc
  .oneof(fc.array(metadata, { maxLength: 12 }), fc.array(metadata, { minLength: 60, maxLength: 150 }))
  .chain((each) =>
    fc
      .shuffledSubarray(
        each.map((_, i) => i),
        { minLength: each.length },
      )
      .map((order) => ({ each, order })),
  )
  .map(({ each, order }): InstanceInit[] =>
    order.map((place, i) => ({
      instanceId: `i${place}`,
      host: 'h',
      port: place,
      metadata: each[i] as Record<string, string>,
    })),
  )

const requests: fc.Arbitrary<PickRequest> = fc
  .record({
    'x-sc-lb-hint': optional('v1', 'v2', 'v3', ''),
    'x-service-version': optional('1', '2', '3'),
    'x-api-version': optional('1', '1.2', 'v2', '9'),
    cookie: optional('sc-lb-instance-id=i0', 'a=1; sc-lb-instance-id=i3', 'sc-lb-instance-id=gone'),
    key: optional('k1', 'k2', 'k3', 'k4'),
  })
  .map(({ key, ...headers }) => ({
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
    ...(key !== undefined && { key }),
  }))

interface Subject {
  readonly name: string
  readonly supplier: Supplier
  readonly keepsOrder?: false
  /** Its part of a part is less. */
  readonly narrowsAgain?: true
  /** Of a strict one: whom it may offer. Not given: anybody. */
  matches?(instance: ServiceInstance, request: PickRequest): boolean
}

const headerOf = ({ headers }: PickRequest, name: string) => (headers as Record<string, string>)[name] || undefined
const last = (list: readonly ServiceInstance[]) => list.slice(-1)

const SUBJECTS: Subject[] = [
  ...(['all', 'none', 'stable', last] as const).flatMap((fallback): Subject[] => {
    const called = typeof fallback === 'function' ? 'a function' : fallback
    return [
      { name: `zone-preference, ${called}`, supplier: zonePreference({ zone: 'east', fallback }) },
      { name: `hint, ${called}`, supplier: hint({ fallback }) },
      { name: `version, ${called}`, supplier: version({ fallback }) },
      { name: `sticky-session, ${called}`, supplier: stickySession({ fallback }) },
      { name: `api-version, ${called}`, supplier: apiVersion({ fallback }) },
      { name: `canary, ${called}`, supplier: canary({ percent: 40, fallback }) },
    ]
  }),
  {
    name: 'zone-preference, strict',
    supplier: zonePreference({ zone: 'East', strict: true }),
    matches: ({ metadata }) => metadata.zone?.toLowerCase() === 'east',
  },
  {
    name: 'hint, strict',
    supplier: hint({ strict: true }),
    matches: ({ metadata }, request) => [undefined, metadata.hint].includes(headerOf(request, 'x-sc-lb-hint')),
  },
  {
    name: 'version, strict',
    supplier: version({ strict: true }),
    matches: ({ metadata }, request) => [undefined, metadata.version].includes(headerOf(request, 'x-service-version')),
  },
  {
    name: 'api-version, required',
    supplier: apiVersion({ required: true }),
    matches({ metadata }, request) {
      const asked = versionOf(headerOf(request, 'x-api-version') ?? '')
      return (
        asked !== undefined && rangesOf(metadata.API_VERSION ?? '').some((range) => range && isWithin(asked, range))
      )
    },
  },
  {
    name: 'canary, all of them',
    supplier: canary({ percent: 0 }),
    matches: ({ metadata }) => metadata.canary !== 'true',
  },
  { name: 'api-version, default', supplier: apiVersion({ default: '1.2', fallback: 'stable' }) },
  { name: 'same-instance-preference', supplier: sameInstancePreference() },
  { name: 'weighted', supplier: weighted() },
  { name: 'subset of 1', supplier: subset({ instanceId: 'foobar', size: 1 }), keepsOrder: false },
  { name: 'rendezvous-subset of 7', supplier: rendezvousSubset({ instanceId: 'client-7', size: 7 }) },
  { name: 'aperture', supplier: aperture({ clients: 5, index: 3, minAperture: 2 }), narrowsAgain: true },
  { name: 'subset of 7', supplier: subset({ instanceId: 'client-7', size: 7 }), keepsOrder: false },
]

function plain(supplier: Supplier, list: readonly ServiceInstance[], request: PickRequest): readonly ServiceInstance[] {
  const answer = supplier.filter(list, request)
  return Array.isArray(answer) ? answer : (answer as { list: readonly ServiceInstance[] }).list
}

/** Where in the service's list these stand: lists of instances compare fast as numbers. */
function placesOf(list: readonly ServiceInstance[], given: readonly ServiceInstance[]): number[] {
  const places = new Map(given.map((instance, i) => [instance, i]))
  return list.map((instance) => places.get(instance) ?? -1)
}

async function withService(
  supplier: Supplier,
  instances: InstanceInit[],
  look: (service: ReturnType<ReturnType<typeof createLoadBalancer>['service']>) => Promise<void> | void,
): Promise<void> {
  const lb = createLoadBalancer({ seed: 1, services: { s: { instances, suppliers: [supplier] } } })
  try {
    await look(lb.service('s'))
  } finally {
    await lb.close()
  }
}

describe.each(SUBJECTS)('$name', ({ supplier, keepsOrder = true, narrowsAgain, matches }) => {
  it('never invents or duplicates an instance, and keeps the order', async () => {
    await fc.assert(
      fc.asyncProperty(lists, requests, (instances, request) =>
        withService(supplier, instances, (service) => {
          const given = service.instances()
          const places = placesOf(plain(supplier, given, request), given)
          expect(places).not.toContain(-1)
          expect(new Set(places).size).toBe(places.length)
          if (keepsOrder) expect(places).toEqual([...places].sort((a, b) => a - b))
        }),
      ),
      SEED,
    )
  })

  if (!narrowsAgain) {
    it('asked again of its own answer, gives the same', async () => {
      await fc.assert(
        fc.asyncProperty(lists, requests, (instances, request) =>
          withService(supplier, instances, (service) => {
            const given = service.instances()
            const once = plain(supplier, given, request)
            expect(placesOf(plain(supplier, once, request), given)).toEqual(placesOf(once, given))
          }),
        ),
        SEED,
      )
    })
  }

  it('gives through the core what it gives in plain JavaScript', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.array(requests, { minLength: 1, maxLength: 4 }), (instances, asked) =>
        withService(supplier, instances, async (service) => {
          const given = service.instances()
          for (const request of asked) {
            const { candidates, layers } = await service.explain(request)
            expect(placesOf(candidates, given)).toEqual(placesOf(plain(supplier, given, request), given))
            const answer = supplier.filter(given, request)
            if ('fellBack' in answer) expect(layers[1]?.fellBack ?? false).toBe(answer.fellBack)
          }
        }),
      ),
      SEED,
    )
  })

  if (matches !== undefined) {
    it('offers nobody that does not match', async () => {
      await fc.assert(
        fc.asyncProperty(lists, requests, (instances, request) =>
          withService(supplier, instances, (service) => {
            const given = service.instances()
            const expected = given.filter((instance) => matches(instance, request))
            expect(placesOf(plain(supplier, given, request), given)).toEqual(placesOf(expected, given))
          }),
        ),
        SEED,
      )
    })
  }

  it('frees in the core what it makes there', async () => {
    const [list = [], asked = []] = [
      fc.sample(lists, { ...SEED, numRuns: 40 }),
      fc.sample(requests, { ...SEED, numRuns: 40 }),
    ]
    const churn = (service: Parameters<Parameters<typeof withService>[2]>[0], rounds: number) => {
      for (let i = 0; i < rounds; i++) {
        service.update(list[i % list.length] ?? [])
        for (const request of asked) service.pick(request)?.done()
      }
    }
    await withService(supplier, [], (service) => {
      churn(service, 40)
      const { memory } = coreOf().exports
      const before = memory.buffer.byteLength
      churn(service, 160)
      expect(memory.buffer.byteLength).toBe(before)
    })
  })
})

describe('semantic versions', () => {
  const versions = fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4)) as fc.Arbitrary<[number, number, number]>
  const orderOf = ([major, minor, patch]: SemanticVersion) => major * 100 + minor * 10 + patch

  it('are read with any letters before them', () => {
    fc.assert(
      fc.property(versions, fc.constantFrom('', 'v', 'version-', ' '), ([major, minor, patch], before) => {
        expect(versionOf(`${before}${major}.${minor}.${patch}`)).toEqual([major, minor, patch])
        expect(versionOf(`${before}${major}.${minor}`)).toEqual([major, minor, 0])
        expect(versionOf(`${before}${major}`)).toEqual([major, 0, 0])
      }),
      SEED,
    )
  })

  it('are within a range if they lie between its ends', () => {
    fc.assert(
      fc.property(versions, versions, versions, (version, from, to) => {
        const [range] = rangesOf(`${from.join('.')} - ${to.join('.')}`)
        expect(range !== undefined).toBe(orderOf(from) <= orderOf(to))
        if (range !== undefined) {
          const between = orderOf(from) <= orderOf(version) && orderOf(version) <= orderOf(to)
          expect(isWithin(version, range)).toBe(between)
        }
        const [above] = rangesOf(`${from.join('.')}+`)
        expect(above && isWithin(version, above)).toBe(orderOf(version) >= orderOf(from))
      }),
      SEED,
    )
  })

  it.each(['', 'v', '1.', '1.2.3.4', '1a', '1.0-', '2147483648', '1 2'])('%j is none', (text) => {
    expect(versionOf(text)).toBeUndefined()
  })

  it.each(['', '+', '3-1', '1-', '-', '1--', '1+2', '1-2-3', '2++'])('%j is no range', (text) => {
    expect(rangesOf(text)).toEqual([undefined])
  })
})

describe('the point of a key', () => {
  it('is String.hashCode of the core, mixed', () => {
    const mixed = (hash: number) => {
      let h = hash
      h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
      h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
      return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32
    }
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (key) => {
        expect(pointOf(key)).toBe(mixed(coreOf().hashText(key)))
        expect(pointOf(key)).toBeGreaterThanOrEqual(0)
        expect(pointOf(key)).toBeLessThan(1)
      }),
      SEED,
    )
  })

  it('is the same for a number and its text', () => {
    expect([pointOf(42n), pointOf('42')]).toEqual([pointOf(42), pointOf(42)])
  })
})

describe('what a client does for a sticky session', () => {
  it.each([
    [undefined, { cookie: 'sc-lb-instance-id', addServiceInstanceCookie: false, setCookie: false }],
    [{ setCookie: true }, { setCookie: { path: '/' } }],
    [
      { setCookie: false, addServiceInstanceCookie: true },
      { setCookie: false, addServiceInstanceCookie: true },
    ],
    [
      { cookie: 'node', setCookie: { path: '/a', httpOnly: true } },
      { cookie: 'node', setCookie: { path: '/a', httpOnly: true } },
    ],
  ])('of %j is %j', (options, expected) => {
    expect(stickyOf(stickySession(options))).toMatchObject(expected)
  })

  it('is nothing for any other supplier', () => {
    expect(stickyOf(hint())).toBeUndefined()
  })
})
