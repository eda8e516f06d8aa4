/** The resolvers of the runtimes, against a name server of this repository or what they were seen to say. */

import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'
import { encode } from 'dns-packet'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { datagramResolver } from '../../bindings/discovery/dns/datagram-resolver.js'
import { type DenoDns, denoResolver } from '../../bindings/discovery/dns/deno-resolver.js'
import { nodeResolver, workersResolver } from '../../bindings/discovery/dns/node-resolver.js'
import type { DnsType, Resolve } from '../../bindings/discovery/dns/records.js'
import { sameHost, serverAddress } from '../../bindings/discovery/dns/server-address.js'
import { systemResolver } from '../../bindings/discovery/dns/system-resolver.js'
import { decodeAnswer, encodeQuestion } from '../../bindings/discovery/dns/wire.js'
import { FakeDoh } from './fakes/doh.js'
import { NameServer } from './name-server.js'
import { seeded } from './seeded.js'

const fake = new FakeDoh({ ttl: 9 })
const server = new NameServer(fake)
const live = () => new AbortController().signal

beforeAll(() => server.start())
afterAll(() => server.close())
beforeEach(() => {
  fake.rcode = undefined
  server.silent = false
  server.forged = undefined
  server.junk = undefined
})

const SILENT_MS = 80

/** c-ares is an independent reader of what NameServer writes. */
const RESOLVERS: [string, (limitMs?: number) => Resolve][] = [
  ['node:dns', (limitMs = 2_000) => nodeResolver(dns, [server.address], limitMs)],
  ['name servers over UDP', (limitMs = 2_000) => datagramResolver({ dgram, net }, [addressOf(server)], limitMs)],
]

function addressOf({ address }: NameServer) {
  const read = serverAddress(address)
  return read ?? expect.fail(address)
}

async function failureOf(resolve: Resolve, name = 'x.lan', type: DnsType = 'A') {
  return resolve(name, type, live()).then(
    (answer) => expect.fail(`answered ${JSON.stringify(answer)}`),
    (error) => error,
  )
}

describe.each(RESOLVERS)('%s', (kind, resolver) => {
  it('reads A, AAAA and SRV records, over CNAME records, with the shortest TTL', async () => {
    fake.put('orders.lan', [
      { type: 'A', data: '10.0.0.1' },
      { type: 'A', data: '10.0.0.2', ttl: 4 },
      { type: 'AAAA', data: 'fd00::1' },
    ])
    fake.put('alias.lan', [{ type: 'CNAME', data: 'orders.lan.', ttl: 2 }])
    fake.put('_x._tcp.lan', [
      { type: 'SRV', data: '10 60 8080 N1.lan.' },
      { type: 'SRV', data: '0 0 1 .' },
    ])
    const resolve = resolver()
    const sorted = async (name: string, type: DnsType) => {
      const { addresses, ttlMs } = await resolve(name, type, live())
      return [[...addresses].sort(), ttlMs]
    }
    expect(await sorted('orders.lan', 'A')).toEqual([['10.0.0.1', '10.0.0.2'], 4_000])
    expect(await sorted('orders.lan', 'AAAA')).toEqual([['fd00::1'], 9_000])
    expect(await sorted('alias.lan', 'A')).toEqual([['10.0.0.1', '10.0.0.2'], 2_000])
    const { services, ttlMs } = await resolve('_x._tcp.lan', 'SRV', live())
    expect(services).toHaveLength(2)
    expect(services).toContainEqual({ target: 'n1.lan', port: 8080, priority: 10, weight: 60 })
    expect(services).toContainEqual({ target: '', port: 1, priority: 0, weight: 0 })
    expect(ttlMs).toBe(kind === 'node:dns' ? undefined : 9_000)
  })

  it('no such name, and none of that type, are nobody', async () => {
    fake.put('text.lan', [{ type: 'TXT', data: 'x' }])
    for (const name of ['nobody.lan', 'text.lan']) {
      for (const type of ['A', 'AAAA', 'SRV'] as const) {
        expect(await resolver()(name, type, live())).toMatchObject({ addresses: [], services: [] })
      }
    }
  })

  it.each([
    [1, 'status'],
    [2, 'status'],
    [4, 'status'],
    [5, 'denied'],
  ])('response code %i is a failure', async (rcode, failure) => {
    fake.rcode = rcode
    expect(await failureOf(resolver())).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure })
  })

  it('asks over TCP for what does not fit into a datagram', async () => {
    const rows = Array.from({ length: 200 }, (_, i) => ({ type: 'A' as const, data: `10.0.1.${i}` }))
    fake.put('many.lan', rows)
    const before = server.overTcp
    expect((await resolver()('many.lan', 'A', live())).addresses).toHaveLength(200)
    expect(server.overTcp).toBe(before + 1)
  })

  it('no answer, and one that cannot be read, are failures', async () => {
    server.silent = true
    expect(await failureOf(resolver(SILENT_MS))).toMatchObject({ failure: 'timeout' })
    server.silent = false
    server.junk = Buffer.from('junk')
    expect((await failureOf(resolver(SILENT_MS))).failure).toMatch(/malformed|timeout/)
  })

  it('a question that is given up ends', async () => {
    server.silent = true
    const stop = new AbortController()
    const asked = resolver()('x.lan', 'A', stop.signal)
    stop.abort(new Error('enough'))
    await expect(asked).rejects.toThrow()
  })
})

describe('name servers over UDP', () => {
  const at = (...servers: string[]) => {
    return datagramResolver(
      { dgram, net },
      servers.map((each) => serverAddress(each) ?? expect.fail(each)),
      300,
    )
  }

  it('a datagram that answers another question is not looked at', async () => {
    fake.put('orders.lan', [{ type: 'A', data: '10.0.0.1' }])
    const flips = [0, 1, 2, 13]
    for (const octet of flips) {
      server.forged = (answer) => {
        const forged = Buffer.from(answer)
        forged[octet] = (forged[octet] as number) ^ (octet === 2 ? 0x80 : 0x01)
        forged[forged.length - 1] = 66
        return forged
      }
      expect((await at(server.address)('orders.lan', 'A', live())).addresses).toEqual(['10.0.0.1'])
    }
  })

  it('a message that is cut off, or whose names go in circles, is malformed', async () => {
    fake.put('_x.lan', [{ type: 'SRV', data: '0 0 80 n1.lan.' }])
    server.forged = (answer) => answer.subarray(0, answer.length - 3)
    const resolve = at(server.address)
    expect(await failureOf(resolve, '_x.lan', 'SRV')).toMatchObject({ failure: 'malformed' })
    server.forged = (answer) => {
      const circle = Buffer.from(answer)
      // The target points at itself.
      const target = answer.length - 'n1.lan'.length - 2
      circle.writeUInt16BE(0xc000 | target, target)
      return circle
    }
    expect(await failureOf(resolve, '_x.lan', 'SRV')).toMatchObject({ failure: 'malformed' })
  })

  it('what another server sends is not looked at', async () => {
    fake.put('orders.lan', [{ type: 'A', data: '10.0.0.1' }])
    // From the same port of another address.
    const other = dgram.createSocket('udp4')
    await new Promise<void>((resolve) => other.bind(Number(server.address.split(':')[1]), '127.0.0.2', resolve))
    const sent: Promise<unknown>[] = []
    server.forged = (answer, from) => {
      const forged = Buffer.from(answer)
      forged[forged.length - 1] = 66
      sent.push(new Promise((resolve) => other.send(forged, from.port, from.address, resolve)))
      return undefined
    }
    server.pausedBy = () => Promise.all(sent)
    expect((await at(server.address)('orders.lan', 'A', live())).addresses).toEqual(['10.0.0.1'])
    expect(sent).toHaveLength(1)
    server.pausedBy = undefined
    other.close()
  })

  it('an answer over TCP that is still not all of it is a failure', async () => {
    fake.put('orders.lan', [{ type: 'A', data: '10.0.0.1' }])
    server.cutsAll = true
    expect(await failureOf(at(server.address), 'orders.lan')).toMatchObject({ failure: 'too-large' })
    server.cutsAll = false
  })

  it('who was silent is asked once more, whatever another says', async () => {
    fake.put('orders.lan', [{ type: 'A', data: '10.0.0.1' }])
    const refusing = new FakeDoh()
    refusing.rcode = 5
    const other = new NameServer(refusing)
    await other.start()
    server.silent = true
    const asked = at(server.address, other.address)('orders.lan', 'A', live())
    refusing.respond = () => {
      server.silent = false
      refusing.respond = undefined
      return Response.json({ Status: 5 })
    }
    expect((await asked).addresses).toEqual(['10.0.0.1'])
    await other.close()
  })

  it('a socket that cannot be had is a failure, and ends the wait', async () => {
    const refusing = {
      createSocket: () => {
        throw new Error('EMFILE')
      },
    } as never
    const resolve = datagramResolver({ dgram: refusing, net }, [addressOf(server)], 60_000)
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    await expect(resolve('x.lan', 'A', signal)).rejects.toMatchObject({ failure: 'unreachable' })
    expect(removed).toHaveBeenCalledTimes(1)
  })

  it('the next server is asked when one fails or is silent', async () => {
    fake.put('orders.lan', [{ type: 'A', data: '10.0.0.1' }])
    const refusing = new FakeDoh()
    refusing.rcode = 5
    const other = new NameServer(refusing)
    await other.start()
    const resolve = at(other.address, server.address)
    expect((await resolve('orders.lan', 'A', live())).addresses).toEqual(['10.0.0.1'])
    other.silent = true
    expect((await resolve('orders.lan', 'A', live())).addresses).toEqual(['10.0.0.1'])
    await other.close()
  })
})

it('an IPv6 address is the same however it is written', () => {
  expect(sameHost('::1', '0:0:0:0:0:0:0:1')).toBe(true)
  expect(sameHost('::1', '::2')).toBe(false)
  expect(sameHost('127.0.0.1', '127.0.0.2')).toBe(false)
})

describe('messages', () => {
  it('what is no message is an error, never an answer', () => {
    const random = seeded(1)
    const question = encodeQuestion(7, 'orders.lan', 'SRV')
    for (let i = 0; i < 20_000; i++) {
      const tail = Uint8Array.from({ length: 60 * random() }, () => 256 * random())
      const message = new Uint8Array([...question, ...tail])
      // An answer to this question, with a row.
      message[2] = 0x81
      message[7] = 1
      let answer: unknown
      try {
        answer = decodeAnswer(message, 'SRV')
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
        continue
      }
      expect(answer).toMatchObject({ records: expect.any(Array) })
    }
  })

  it('any part of an answer is an error, never a part of the list', () => {
    const whole = encode({
      type: 'response',
      questions: [{ name: 'orders.lan', type: 'A' }],
      answers: ['10.0.0.1', '10.0.0.2'].map((data) => ({ name: 'orders.lan', type: 'A', ttl: 9, data })),
    })
    expect(decodeAnswer(whole, 'A').records).toEqual([
      { address: '10.0.0.1', ttl: 9 },
      { address: '10.0.0.2', ttl: 9 },
    ])
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeAnswer(whole.subarray(0, length), 'A')).toThrow()
    }
  })

  it('records beside the answers are not read', () => {
    const question = { name: 'orders.lan', type: 'A' as const }
    const whole = encode({
      type: 'response',
      questions: [question],
      answers: [{ ...question, ttl: 9, data: '10.0.0.1' }],
    })
    // One more that is no record.
    const odd = new Uint8Array([...whole, 0xff, 0xff, 0xff])
    odd[11] = 1
    expect(decodeAnswer(odd, 'A').records).toHaveLength(1)
  })
})

describe('Deno', () => {
  const addresses = ['127.0.0.1:5353', '[::1]:53']

  it.each([
    [['127.0.0.1:5353', '[::1]:53', '0.0.0.0:0', '[::]:0'], 'name servers over UDP'],
    // Binding a socket without the permission would end the process.
    [['127.0.0.1:5353', '[::1]:53', '0.0.0.0:0'], 'Deno.resolveDns'],
    [['127.0.0.1:5353', '0.0.0.0:0', '[::]:0'], 'Deno.resolveDns'],
    [[], 'Deno.resolveDns'],
  ])('allowed to speak to %j it asks %s', async (allowed, name) => {
    const asked: unknown[] = []
    vi.stubGlobal('Deno', {
      permissions: {
        querySync: ({ host }: { host: string }) => ({ state: allowed.includes(host) ? 'granted' : 'prompt' }),
      },
      resolveDns: async (_: string, __: string, { nameServer }: { nameServer: unknown }) => {
        asked.push(nameServer)
        if (asked.length === 1) throw Object.assign(new Error('proto error'), { name: 'NotFound' })
        return ['10.0.0.1']
      },
    })
    try {
      const system = systemResolver(addresses, 1_000)
      expect(system.name).toBe(name)
      if (name !== 'Deno.resolveDns') return
      // Each of the servers in turn.
      expect(await system.resolve('x.lan', 'A', live())).toMatchObject({ addresses: ['10.0.0.1'] })
      expect(asked).toEqual([
        { ipAddr: '127.0.0.1', port: 5353 },
        { ipAddr: '::1', port: 53 },
      ])
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('Deno.resolveDns', () => {
  const deno = (answer: () => Promise<readonly unknown[]>) => denoResolver({ resolveDns: answer }, [], 1_000)
  const named = (name: string) => Object.assign(new Error('proto error'), { name })

  it('texts and targets, without a TTL', async () => {
    const addresses = await deno(async () => ['10.0.0.1'])('x.lan', 'A', live())
    expect(addresses).toMatchObject({ addresses: ['10.0.0.1'], ttlMs: undefined })
    const services = [{ priority: 1, weight: 2, port: 3, target: 'n1.lan.' }]
    const answer = await deno(async () => services)('_x.lan', 'SRV', live())
    expect(answer.services).toEqual([{ priority: 1, weight: 2, port: 3, target: 'n1.lan' }])
  })

  it('NotFound is said for a refused question too: a failure, with what to do about it', async () => {
    const error = await failureOf(deno(() => Promise.reject(named('NotFound'))))
    expect(error).toMatchObject({ failure: 'unreachable', message: expect.stringContaining('--allow-sys') })
  })

  it('a server that is silent has its share of the time, then the next is asked', async () => {
    const asked: (string | undefined)[] = []
    const resolveDns: DenoDns['resolveDns'] = (_, __, { nameServer, signal }) => {
      asked.push(nameServer?.ipAddr)
      if (asked.length > 1) return Promise.resolve(['10.0.0.1'])
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    const servers = ['10.0.0.8', '10.0.0.9'].map((host) => ({ host, port: 53 }))
    expect(await denoResolver({ resolveDns }, servers, 20)('x.lan', 'A', live())).toMatchObject({
      addresses: ['10.0.0.1'],
    })
    expect(asked).toEqual(['10.0.0.8', '10.0.0.9'])
    const silent: DenoDns['resolveDns'] = (_, __, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    expect(await failureOf(denoResolver({ resolveDns: silent }, servers, 20))).toMatchObject({ failure: 'timeout' })
  })

  it('TimedOut is a timeout', async () => {
    expect(await failureOf(deno(() => Promise.reject(named('TimedOut'))))).toMatchObject({ failure: 'timeout' })
  })
})

describe('node:dns of Workers', () => {
  const workers = (answer: (name: string) => Promise<unknown[]>) =>
    workersResolver({ promises: { resolve4: answer, resolve6: answer, resolveSrv: answer } } as never)

  it('CNAME records that come as addresses are left out', async () => {
    const rows = [
      { address: 'far.lan.', ttl: 9 },
      { address: '10.0.0.1', ttl: 4 },
    ]
    expect(await workers(async () => rows)('x.lan', 'A', live())).toMatchObject({
      addresses: ['10.0.0.1'],
      unreadable: [],
    })
  })

  it('not found is said for a failed question too: a failure, with what to do about it', async () => {
    const error = await failureOf(workers(() => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))))
    expect(error).toMatchObject({ failure: 'unreachable', message: expect.stringContaining('doh') })
  })
})

describe("Bun's node:dns", () => {
  it('has one code for nobody and for a name that is none', async () => {
    const refusing = (errno: number) => {
      const error = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND', errno })
      const Resolver = class {
        resolve4 = () => Promise.reject(error)
      }
      return nodeResolver({ promises: { Resolver } } as never, undefined, 1_000)
    }
    expect(await refusing(4)('x.lan', 'A', live())).toMatchObject({ addresses: [] })
    expect(await failureOf(refusing(8))).toMatchObject({ failure: 'unreachable' })
  })
})
