/** @module etcd's watches: what follows the range, in virtual time. */

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { clientOf, elapse, grpc, settled, type Watching, watching } from './etcd-setup.js'
import { FakeEtcd } from './fakes/etcd.js'

let fake: FakeEtcd
let seen: Watching

beforeEach(() => {
  vi.useFakeTimers()
  fake = new FakeEtcd()
  fake.put('orders/a', grpc('10.0.0.1:80'))
})

afterEach(async () => {
  await seen?.stop()
  fake.close()
  expect(fake.openStreams).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const paths = () => fake.requests.map(({ path }) => path.replace('/v3/', ''))

describe('a connection that is cut after it had lived', () => {
  const cut = () => new TypeError('terminated', { cause: new Error('Body Timeout Error') })

  test('is no failure and needs no range: the next watch goes on from where it got', async () => {
    seen = await watching(clientOf(fake))
    // What Node's fetch does to a body that is silent for five minutes.
    for (const error of [cut(), undefined, cut()]) {
      await elapse(300_000)
      fake.endWatches(error)
      await settled()
      fake.put('orders/b', grpc(`10.0.0.${fake.revision}:80`))
      await elapse(800)
      expect(fake.openStreams).toBe(1)
      expect(seen.lists.at(-1)?.[1]?.host).toBe(`10.0.0.${fake.revision - 1}`)
    }
    const ranges = fake.requests.filter(({ path, body }) => path === '/v3/kv/range' && !body.includes('limit'))
    expect([seen.failures, ranges.length]).toEqual([[], 1])
  })

  test('in the middle of a revision has the keys read anew', async () => {
    seen = await watching(clientOf(fake))
    await elapse(20_000)
    fake.put('elsewhere', 'the third revision')
    const events = [{ kv: { key: btoa('orders/b'), value: btoa('10.0.0.2:80'), mod_revision: '3' } }]
    const first = { header: { revision: '3' }, watch_id: '0', fragment: true, events }
    fake.writeToWatches(`${JSON.stringify({ result: first })}\n`)
    await settled()
    fake.endWatches(cut())
    await elapse(800)
    expect(paths().filter((path) => path === 'kv/range')).toHaveLength(2)
    expect([seen.failures, seen.ids()]).toEqual([[], ['a']])
  })

  test('sooner is one', async () => {
    seen = await watching(clientOf(fake))
    await elapse(9_000)
    fake.endWatches(cut())
    await elapse(2_000)
    expect(seen.failures).toMatchObject([{ failure: 'unreachable' }])
    // The next attempt fails at once: so does a server that has gone.
    await elapse(20_000)
    fake.fault = ({ path }) => (path === '/v3/watch' ? Promise.reject(cut()) : undefined)
    fake.endWatches()
    await elapse(800)
    expect(seen.failures).toMatchObject([{}, { failure: 'unreachable' }])
    fake.fault = () => undefined
  })
})

describe('changes', () => {
  test('the watch begins at the revision after that of the range: nothing between them is lost', async () => {
    fake.fault = ({ path }) => {
      if (path === '/v3/watch') fake.put('orders/b', grpc('10.0.0.2:80'))
      return undefined
    }
    seen = await watching(clientOf(fake))
    expect(seen.lists.map((list) => list.length)).toEqual([1, 2])
    expect(JSON.parse(fake.requests[1]?.body ?? '')).toEqual({
      create_request: {
        key: btoa('orders/'),
        range_end: btoa('orders0'),
        start_revision: '3',
        progress_notify: true,
        fragment: true,
      },
    })
  })

  test('puts and deletions are in the list at once, no later than a second', async () => {
    const client = clientOf(fake)
    seen = await watching(client)
    fake.put('orders/b', grpc('10.0.0.2:80'))
    await settled()
    expect(seen.ids()).toEqual(['a', 'b'])
    fake.delete('orders/a')
    await settled()
    expect(seen.ids()).toEqual(['b'])
    fake.put('orders/b', grpc('10.0.0.3:80'))
    await settled()
    expect(seen.lists.at(-1)).toMatchObject([{ host: '10.0.0.3' }])
    fake.delete('orders/b')
    await settled()
    expect(seen.ids()).toEqual([])
    expect(client.describe('orders').revision).toBe('6')
    expect(paths()).toEqual(['kv/range', 'watch'])
  })

  test('several at once are one list: keys that go with their lease', async () => {
    const lease = { TTL: 10, ID: '7' }
    await post('lease/grant', lease)
    for (const name of ['b', 'c', 'd']) {
      await post('kv/put', { key: btoa(`orders/${name}`), value: btoa(`${name}:80`), lease: '7' })
    }
    seen = await watching(clientOf(fake))
    await post('lease/revoke', { ID: '7' })
    await settled()
    expect(seen.lists.map((list) => list.length)).toEqual([4, 1])
  })

  test('fragments of one revision are one list', async () => {
    fake.watches.mostEvents = 2
    await post('lease/grant', { TTL: 10, ID: '7' })
    for (const name of ['b', 'c', 'd', 'e', 'f']) {
      await post('kv/put', { key: btoa(`orders/${name}`), value: btoa(`${name}:80`), lease: '7' })
    }
    seen = await watching(clientOf(fake))
    await post('lease/revoke', { ID: '7' })
    await settled()
    expect(seen.lists.map((list) => list.length)).toEqual([6, 1])
  })

  test('who has not changed is the same object', async () => {
    seen = await watching(clientOf(fake))
    fake.put('orders/b', grpc('10.0.0.2:80'))
    await settled()
    fake.put('orders/b', grpc('10.0.0.2:80'))
    await settled()
    const [first, second, third] = seen.lists
    expect(second?.[0]).toBe(first?.[0])
    expect(third).toBe(second)
  })

  test('keys of other services say nothing', async () => {
    seen = await watching(clientOf(fake))
    fake.put('orders2/b', grpc('10.0.0.2:80'))
    await settled()
    expect(seen.lists).toHaveLength(1)
  })

  test('an entry that can no longer be read is left out; if it was the only one, the list stays and the failure is told', async () => {
    const client = clientOf(fake)
    seen = await watching(client)
    fake.put('orders/b', grpc('10.0.0.2:80'))
    await settled()
    fake.put('orders/a', 'odd')
    await settled()
    expect(seen.ids()).toEqual(['b'])
    expect(client.describe('orders').unreadable).toContain('orders/a')
    fake.delete('orders/b')
    await settled()
    expect(seen.ids()).toEqual(['b'])
    expect(seen.failures).toMatchObject([{ failure: 'malformed' }])
    fake.delete('orders/a')
    await elapse(1_000)
    expect(seen.ids()).toEqual([])
  })
})

describe('the end of a watch', () => {
  test('it is begun anew after a second, then after longer, and what changed meanwhile is in the next list', async () => {
    seen = await watching(clientOf(fake))
    let isDown = true
    fake.fault = () => {
      if (isDown) throw new TypeError('refused')
      return undefined
    }
    fake.endWatches()
    await settled()
    expect(seen.failures).toMatchObject([{ failure: 'unreachable' }])
    expect(seen.failures[0]?.message).toContain('the server ended the watch')
    fake.put('orders/b', grpc('10.0.0.2:80'))
    const waits: number[] = []
    for (let failures = 1; waits.length < 5; ) {
      let waitedMs = 0
      for (; seen.failures.length === failures; waitedMs += 500) await elapse(500)
      failures = seen.failures.length
      waits.push(waitedMs)
    }
    expect(waits).toEqual([1_000, 5_000, 25_000, 30_000, 30_000])
    expect(seen.lists).toHaveLength(1)
    isDown = false
    await elapse(30_000)
    expect(seen.ids()).toEqual(['a', 'b'])
  })

  test('after ten good seconds the first wait is a second again', async () => {
    seen = await watching(clientOf(fake))
    for (let i = 0; i < 3; i++) {
      await elapse(10_000)
      fake.endWatches()
      await elapse(1_000)
      expect(fake.openStreams).toBe(1)
    }
  })

  test('a connection that breaks is an end', async () => {
    seen = await watching(clientOf(fake))
    fake.endWatches(new Error('reset'))
    await settled()
    expect(seen.failures).toMatchObject([{ failure: 'unreachable' }])
    await elapse(1_000)
    expect(fake.openStreams).toBe(1)
  })

  test('what was compacted away is read again at once, without a failure', async () => {
    seen = await watching(clientOf(fake))
    await elapse(5_000)
    fake.watches.muted = true
    fake.put('orders/b', grpc('10.0.0.2:80'))
    fake.watches.muted = false
    fake.cancelWatches({ compact_revision: fake.revision })
    await settled()
    expect(seen.ids()).toEqual(['a', 'b'])
    expect(seen.failures).toEqual([])
    expect(paths()).toEqual(['kv/range', 'watch', 'kv/range', 'watch'])
  })

  test('a watch that is compacted away as soon as it begins is no reason to ask without end', async () => {
    fake.fault = ({ path }) => {
      if (path !== '/v3/watch') return undefined
      for (let i = 0; i < 5; i++) fake.put('payments/a', `${i}`)
      fake.compact()
      return undefined
    }
    seen = await watching(clientOf(fake))
    expect(seen.failures).toMatchObject([{ failure: 'status', message: expect.stringContaining('history') }])
    expect(paths()).toEqual(['kv/range', 'watch'])
    await elapse(1_000)
    expect(paths()).toHaveLength(4)
  })

  test('a cancellation tells no secret, not the beginning of one either', async () => {
    const token = 'a-token-that-nobody-may-see'
    seen = await watching(clientOf(fake, { headers: { 'x-token': token } }))
    fake.cancelWatches({ cancel_reason: `${'x'.repeat(190)}${token}` })
    await settled()
    expect(seen.failures[0]?.message).toMatch(/: x{190}…$/)
  })

  test('a cancellation tells its reason', async () => {
    seen = await watching(clientOf(fake))
    fake.cancelWatches({ cancel_reason: 'etcdserver: no leader' })
    await settled()
    expect(seen.failures[0]?.message).toContain('the server canceled the watch: etcdserver: no leader')
    expect(seen.ids()).toEqual(['a'])
  })

  test.each([
    ['no JSON', '{"result":\n', 'malformed'],
    ['a line of another shape', '{"events":[]}\n', 'malformed'],
    ['events that are no array', '{"result":{"header":{"revision":"9"},"events":5}}\n', 'malformed'],
    ['an event without a key', '{"result":{"header":{"revision":"9"},"events":[{"type":"DELETE"}]}}\n', 'malformed'],
    ['an error', '{"error":{"grpc_code":14,"http_code":503,"message":"transport is closing"}}\n', 'status'],
    ['a line that is too long', 'x'.repeat(3_000), 'too-large'],
  ])('%s ends the watch; the list stays', async (_, text, failure) => {
    seen = await watching(clientOf(fake, { maxAnswerBytes: 2_000 }))
    fake.writeToWatches(text)
    await settled()
    expect(seen.failures).toMatchObject([{ code: 'EVENKEEL_DISCOVERY', failure }])
    expect(seen.lists).toHaveLength(1)
    await elapse(1_000)
    expect(fake.openStreams).toBe(1)
  })

  test('who stops watching closes the connection, and asks no more', async () => {
    seen = await watching(clientOf(fake))
    await seen.stop()
    expect(fake.openStreams).toBe(0)
    const { length } = fake.requests
    await elapse(120_000)
    expect(fake.requests).toHaveLength(length)
    expect(seen.failures).toEqual([])
  })
})

describe('silence', () => {
  test('is checked with a small question, which confirms the list', async () => {
    seen = await watching(clientOf(fake))
    await elapse(28_000)
    expect(paths()).toEqual(['kv/range', 'watch'])
    await elapse(1_000)
    expect(paths()).toEqual(['kv/range', 'watch', 'kv/range'])
    expect(JSON.parse(fake.requests[2]?.body ?? '')).toEqual({
      key: btoa('orders/'),
      range_end: btoa('orders0'),
      min_mod_revision: '3',
      keys_only: true,
      limit: '1',
    })
    expect(seen.confirmations).toBe(1)
    await elapse(10 * 28_500)
    expect(seen.confirmations).toBe(11)
    expect([seen.lists.length, seen.failures.length]).toEqual([1, 0])
  })

  test('an event puts the check off', async () => {
    seen = await watching(clientOf(fake))
    await elapse(20_000)
    fake.put('orders/b', grpc('10.0.0.2:80'))
    await elapse(20_000)
    expect(paths()).toEqual(['kv/range', 'watch'])
    await elapse(8_500)
    expect(paths()).toHaveLength(3)
  })

  test('a notification of progress confirms too', async () => {
    fake.watches.progressMs = 10_000
    const client = clientOf(fake)
    seen = await watching(client)
    fake.put('payments/a', 'x')
    await elapse(60_000)
    expect(seen.confirmations).toBe(6)
    expect(paths()).toEqual(['kv/range', 'watch'])
  })

  test.each([
    ['put', () => fake.put('orders/b', grpc('10.0.0.2:80')), ['a', 'b']],
    ['deletion', () => fake.delete('orders/a'), []],
    [
      'deletion and put of as many',
      () => {
        fake.delete('orders/a')
        fake.put('orders/c', grpc('10.0.0.3:80'))
      },
      ['c'],
    ],
  ])('a %s that the watch never brought is found by the check', async (_, change, ids) => {
    seen = await watching(clientOf(fake))
    fake.watches.muted = true
    change()
    await elapse(28_500)
    expect(seen.failures).toEqual([])
    fake.watches.muted = false
    await elapse(1_000)
    expect(seen.failures).toMatchObject([{ failure: 'timeout', message: expect.stringContaining('no change since') }])
    await elapse(1_000)
    expect(seen.ids()).toEqual(ids)
    expect(fake.openStreams).toBe(1)
  })

  test('a change that comes while the check asks is no reason to end the watch', async () => {
    seen = await watching(clientOf(fake))
    fake.fault = ({ body }) => {
      if (body.includes('min_mod_revision')) fake.put('orders/b', grpc('10.0.0.2:80'))
      return undefined
    }
    await elapse(29_500)
    expect(seen.ids()).toEqual(['a', 'b'])
    expect(seen.failures).toEqual([])
  })

  test('a server that answers no question is dead, however open its watch', async () => {
    seen = await watching(clientOf(fake, { requestTimeoutMs: 5_000 }))
    fake.fault = () => new Promise<never>(() => {})
    await elapse(28_500 + 5_000)
    expect(seen.failures).toMatchObject([{ failure: 'timeout' }])
    expect(fake.openStreams).toBe(0)
  })

  test('a server without a leader is left for another', async () => {
    const other = new FakeEtcd()
    for (const each of [fake, other]) each.put('orders/a', grpc('10.0.0.1:80'))
    const client = clientOf(
      { fetch: (request) => (request.url.startsWith('http://one') ? fake : other).fetch(request) },
      { url: ['http://one', 'http://two'] },
    )
    seen = await watching(client)
    expect([fake.openStreams, other.openStreams]).toEqual([1, 0])
    fake.noLeader = true
    await elapse(28_500)
    expect(seen.failures).toMatchObject([{ failure: 'status', status: 503 }])
    await elapse(1_000)
    expect([fake.openStreams, other.openStreams]).toEqual([0, 1])
    other.close()
  })

  test('a store whose revision went back is read anew', async () => {
    for (let i = 0; i < 5; i++) fake.put('orders/a', grpc(`10.0.0.${i}:80`))
    let behind = fake
    seen = await watching(clientOf({ fetch: (request) => behind.fetch(request) }))
    behind = new FakeEtcd()
    behind.put('orders/restored', grpc('10.0.0.9:80'))
    await elapse(28_500)
    expect(seen.failures[0]?.message).toContain('its revision went back from 7 to 2')
    await elapse(1_000)
    expect(seen.ids()).toEqual(['restored'])
    await seen.stop()
    behind.close()
  })
})

async function post(path: string, body: unknown): Promise<void> {
  await fake.fetch(new Request(`http://fake/v3/${path}`, { method: 'POST', body: JSON.stringify(body) }))
  fake.requests.pop()
}
