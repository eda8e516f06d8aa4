/** @module What is read of EndpointSlices: conditions, families, ports, zones, duplicates, metadata. */

import { describe, expect, it } from 'vitest'
import type { KubernetesDiscoveryOptions } from '../../bindings/discovery/kubernetes/index.js'
import { endpoint, errorOf, idsOf, listed, setup, slice } from './kubernetes-setup.js'

/** The list of these slices. */
async function read(slices: object[], options: KubernetesDiscoveryOptions = {}) {
  const { fake, client } = setup(options)
  for (const each of slices) fake.put(each)
  const list = await listed(client)
  return { list, ids: idsOf(list), told: client.describe('orders') }
}

const at = (uid: string, last: number, more: Record<string, unknown> = {}) => endpoint(uid, `10.1.0.${last}`, more)
const zones = (...names: string[]) => ({ hints: { forZones: names.map((name) => ({ name })) } })

describe('an instance', () => {
  it('has the pod, its node, its zone, the ports and the labels in its metadata', async () => {
    const { list } = await read([
      slice('a', [at('u-1', 4, { nodeName: 'n1', zone: 'z1', hostname: 'orders-0' })], {
        labels: { version: '2', 'endpointslice.kubernetes.io/managed-by': 'x' },
        ports: [{ name: 'http', port: 8080, appProtocol: 'http' }],
      }),
    ])
    expect(list).toEqual([
      {
        instanceId: 'u-1',
        host: '10.1.0.4',
        port: 8080,
        secure: false,
        metadata: {
          status: 'UP',
          zone: 'z1',
          'kubernetes.namespace': 'default',
          'kubernetes.node': 'n1',
          'kubernetes.pod': 'pod-u-1',
          'kubernetes.hostname': 'orders-0',
          'kubernetes.port.http': '8080',
          'label.version': '2',
        },
      },
    ])
  })

  it('is called by its address and port where it is no pod; IPv6 in brackets', async () => {
    const bare = (address: string) => ({ addresses: [address, '10.9.9.9'] })
    expect((await read([slice('a', [bare('10.1.0.4')])])).ids).toEqual(['10.1.0.4:8080'])
    const { list, ids } = await read([slice('a', [bare('fd00::4')], { addressType: 'IPv6' })])
    expect(ids).toEqual(['[fd00::4]:8080'])
    expect(list[0]?.host).toBe('fd00::4')
  })

  it('has the labels as its own metadata with labelPrefix "", what the API says of it before them', async () => {
    const labels = { version: '2', zone: 'wrong' }
    const { list } = await read([slice('a', [at('u', 1, { zone: 'z1' })], { labels })], { labelPrefix: '' })
    expect(list[0]?.metadata).toMatchObject({ version: '2', zone: 'z1' })
  })

  it('has the zone and node of the old topology', async () => {
    const old = { 'topology.kubernetes.io/zone': 'z9', 'kubernetes.io/hostname': 'n9' }
    for (const field of ['topology', 'deprecatedTopology']) {
      const { list } = await read([slice('a', [at('u', 1, { [field]: old })])])
      expect(list[0]?.metadata).toMatchObject({ zone: 'z9', 'kubernetes.node': 'n9' })
    }
  })
})

describe('conditions', () => {
  it('count as ready where they are missing or null', async () => {
    const endpoints = [{ addresses: ['10.1.0.1'] }, at('b', 2, { conditions: {} }), at('c', 3, { conditions: null })]
    expect((await read([slice('a', [...endpoints, at('d', 4, { conditions: { ready: null } })])])).list).toHaveLength(4)
  })

  it('leave out who is not ready', async () => {
    expect((await read([slice('a', [at('a', 1), at('b', 2, { conditions: { ready: false } })])])).ids).toEqual(['a'])
  })

  const leaving = { conditions: { ready: false, serving: true, terminating: true } }
  const starting = { conditions: { ready: false, serving: false, terminating: false } }
  const gone = { conditions: { ready: false, serving: false, terminating: true } }

  it('let those who shut down and still serve stay while nobody is ready, and only then', async () => {
    const slices = [slice('a', [at('a', 1, leaving), at('b', 2, starting)]), slice('b', [at('c', 3, gone)])]
    const { list, ids, told } = await read(slices)
    expect(ids).toEqual(['a'])
    expect(list[0]?.metadata).toMatchObject({ status: 'UP', 'kubernetes.terminating': 'true' })
    expect(told.serving).toContain('nobody is ready')
    expect((await read([...slices, slice('c', [at('d', 4)])])).ids).toEqual(['d'])
    expect((await read(slices, { serving: 'never' })).ids).toEqual([])
  })

  it('without serving: it is as ready', async () => {
    const conditions = { ready: false, terminating: true }
    expect((await read([slice('a', [at('a', 1, { conditions })])])).ids).toEqual([])
  })
})

describe('ports', () => {
  const two = [
    { name: 'http', port: 8080 },
    { name: 'admin', port: 9090 },
  ]

  it('several and none chosen: an error that names them', async () => {
    const error = await errorOf(read([slice('a', [at('a', 1)], { ports: two })]))
    expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure: 'malformed' })
    expect(error.message).toContain('http (8080), admin (9090)')
    expect(error.message).toContain('option port')
  })

  it('are chosen by name or number', async () => {
    const slices = [slice('a', [at('a', 1)], { ports: two })]
    expect((await read(slices, { port: 'admin' })).list[0]?.port).toBe(9090)
    expect((await read(slices, { port: 9090 })).list[0]?.port).toBe(9090)
    expect((await read(slices, { port: '8080' })).list[0]?.port).toBe(8080)
    expect((await errorOf(read(slices, { port: 'grpc' }))).message).toContain('none is called "grpc"')
    expect((await errorOf(read(slices, { port: 80 }))).message).toContain('none is 80')
  })

  it('by UDP are none', async () => {
    const ports = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'http', port: 8080, protocol: 'TCP' },
    ]
    expect((await read([slice('a', [at('a', 1)], { ports })])).list[0]?.port).toBe(8080)
    const error = await errorOf(read([slice('a', [at('a', 1)], { ports: ports.slice(0, 1) })]))
    expect(error.message).toContain('no TCP ports')
  })

  it('null, or none at all: the number of the option, or an error', async () => {
    for (const ports of [[{ name: 'any', port: null }], [], null]) {
      const slices = [slice('a', [at('a', 1)], { ports })]
      expect((await read(slices, { port: 7000 })).list[0]?.port).toBe(7000)
      expect((await errorOf(read(slices))).message).toContain('a number by the option port')
    }
  })

  it('of some slices only: those that can be read are listed, the others named', async () => {
    const { ids, told } = await read([slice('a', [at('a', 1)]), slice('b', [at('b', 2)], { ports: two })])
    expect(ids).toEqual(['a'])
    expect(told.unreadable).toContain('slice b has the ports http (8080), admin (9090)')
  })

  it('are secure by protocol, by name, by the label, or by the option', async () => {
    const secure = async (port: object, more: object = {}, options: KubernetesDiscoveryOptions = {}) => {
      const { list } = await read([slice('a', [at('a', 1)], { ports: [{ port: 443, ...port }], ...more })], options)
      return list[0]?.secure
    }
    expect(await secure({ name: 'x', appProtocol: 'https' })).toBe(true)
    expect(await secure({ name: 'https' })).toBe(true)
    expect(await secure({ name: 'https-api' })).toBe(true)
    expect(await secure({ name: 'https', appProtocol: 'http' })).toBe(false)
    expect(await secure({ name: 'x' })).toBe(false)
    expect(await secure({ name: 'x' }, { labels: { secured: 'true' } })).toBe(true)
    expect(await secure({ name: 'x' }, {}, { secure: true })).toBe(true)
    expect(await secure({ name: 'https' }, {}, { secure: false })).toBe(false)
  })
})

describe('dual stack', () => {
  const v4 = slice('v4', [at('a', 1)])
  const v6 = slice('v6', [endpoint('a', 'fd00::1')], { addressType: 'IPv6' })

  it('lists one family: IPv4, unless only the other has somebody', async () => {
    const { list, told } = await read([v4, v6])
    expect(list.map(({ host }) => host)).toEqual(['10.1.0.1'])
    expect(told.family).toBe('IPv4')
    const starting = slice('v4', [at('a', 1, { conditions: { ready: false } })])
    expect((await read([starting, v6])).list[0]?.host).toBe('fd00::1')
  })

  it('lists the family of the option, and nobody if it has nobody', async () => {
    expect((await read([v4, v6], { family: 'IPv6' })).list[0]?.host).toBe('fd00::1')
    expect((await read([v4], { family: 'IPv6' })).list).toEqual([])
  })

  it('lists names where there are only names', async () => {
    const named = slice('n', [endpoint('a', 'db.example.com')], { addressType: 'FQDN' })
    expect((await read([named])).list[0]?.host).toBe('db.example.com')
  })
})

describe('zone hints', () => {
  const all = [at('a', 1, zones('z1')), at('b', 2, zones('z2')), at('c', 3, zones('z1', 'z2'))]

  it('are followed if everybody has some and somebody is for this zone', async () => {
    const { ids, told } = await read([slice('a', all)], { zone: 'z1' })
    expect(ids).toEqual(['a', 'c'])
    expect(told.hints).toBe('followed: 2 of 3 for zone z1')
  })

  it('are ignored otherwise', async () => {
    const half = [...all, at('d', 4)]
    expect((await read([slice('a', half)], { zone: 'z1' })).ids).toHaveLength(4)
    expect((await read([slice('a', all)], { zone: 'z3' })).ids).toHaveLength(3)
    expect((await read([slice('a', all)])).ids).toHaveLength(3)
    expect((await read([slice('a', all)], { zone: 'z1', hints: false })).ids).toHaveLength(3)
  })

  it('are not asked of who is not ready', async () => {
    const { ids } = await read([slice('a', [...all, at('d', 4, { conditions: { ready: false } })])], { zone: 'z1' })
    expect(ids).toEqual(['a', 'c'])
  })
})

describe('several slices', () => {
  it('make one list, sorted', async () => {
    const slices = [slice('b', [at('c', 3), at('a', 1)]), slice('a', [at('b', 2)]), slice('empty', null)]
    expect((await read(slices)).ids).toEqual(['a', 'b', 'c'])
  })

  it('with the same pod, while it moves: listed once, as the newer slice has it, and named', async () => {
    const changed = (time: string) => ({ annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': time } })
    const older = slice('z', [at('a', 1, { nodeName: 'old' })], changed('2024-05-01T10:00:00Z'))
    const newer = slice('b', [at('a', 1, { nodeName: 'new' })], changed('2024-05-01T10:00:01Z'))
    for (const slices of [
      [older, newer],
      [newer, older],
    ]) {
      const { list, told } = await read(slices)
      expect(list.map(({ metadata }) => metadata?.['kubernetes.node'])).toEqual(['new'])
      expect(told.merged).toContain('"a" at 10.1.0.1:8080 (the same id')
    }
  })

  it('with the same pod, ready in one of them: it is listed', async () => {
    const down = at('a', 1, { conditions: { ready: false } })
    expect((await read([slice('a', [at('a', 1)]), slice('b', [down])])).ids).toEqual(['a'])
    expect((await read([slice('a', [down]), slice('b', [at('a', 1)])])).ids).toEqual(['a'])
  })

  it('with the same address under two names: listed once', async () => {
    expect((await read([slice('a', [at('a', 1)]), slice('b', [at('b', 1)])])).list).toHaveLength(1)
  })
})

describe('what cannot be read', () => {
  const bad = [{ addresses: [] }, at('x', 1, { conditions: { ready: 'yes' } }), { addresses: ['not a host'] }, null]

  it('is left out and named', async () => {
    const { ids, told } = await read([slice('a', [at('a', 1), ...bad])])
    expect(ids).toEqual(['a'])
    expect(told.unreadable).toContain('slice a: endpoints[1].addresses[0] must be a host, missing')
    expect(told.unreadable).toContain('endpoints[2].conditions.ready must be true or false, not "yes"')
  })

  it('is an error if it is all there is', async () => {
    const error = await errorOf(read([slice('a', bad)]))
    expect(error).toMatchObject({ failure: 'malformed' })
    expect(error.message).toContain('none of the endpoints can be read')
  })

  it('of the slice itself makes the whole answer malformed', async () => {
    for (const more of [{ addressType: 'IPX' }, { endpoints: 'many' }, { ports: [{ port: 'x' }] }, { ports: {} }]) {
      expect(await errorOf(read([slice('a', [at('a', 1)], more)]))).toMatchObject({ failure: 'malformed' })
    }
  })
})
