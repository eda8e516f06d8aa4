import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Backoff } from '../../bindings/discovery/registry/backoff.js'
import { Endpoints } from '../../bindings/discovery/registry/endpoints.js'
import { jsonLines } from '../../bindings/discovery/registry/json-lines.js'
import { type Found, ListKeeper } from '../../bindings/discovery/registry/list-keeper.js'
import { registryAddress } from '../../bindings/discovery/registry/registry-address.js'
import { watchLoop } from '../../bindings/discovery/registry/watch-loop.js'
import { DiscoveryError } from '../../bindings/errors.js'
import { seeded } from './seeded.js'

const never = () => new AbortController().signal

describe('several servers of one registry', () => {
  const setup = (count: number) => {
    const addresses = Array.from({ length: count }, (_, i) => registryAddress(`http://r${i}`, 'url'))
    const endpoints = new Endpoints('test', addresses)
    const dead = new Set<number>()
    const asked: number[] = []
    const ask = (signal = never()) =>
      endpoints.ask(signal, async ({ base }) => {
        const place = Number(base.slice('http://r'.length))
        asked.push(place)
        if (dead.has(place)) throw new DiscoveryError(`r${place} is dead`, { failure: 'unreachable' })
        return place
      })
    return { endpoints, dead, asked, ask, taken: () => asked.splice(0) }
  }

  it('spring-cloud-netflix#2352: of 4 URLs 3 are dead, and the 4th answers', async () => {
    const { dead, ask, taken } = setup(4)
    for (const each of [0, 1, 2]) dead.add(each)
    expect([await ask(), taken()]).toEqual([3, [0, 1, 2, 3]])
    expect([await ask(), taken()]).toEqual([3, [3]])
  })

  it('who failed is asked last until too many have', async () => {
    const { dead, ask, taken, endpoints } = setup(4)
    dead.add(0)
    expect([await ask(), taken(), endpoints.current.base]).toEqual([1, [0, 1], 'http://r1'])
    dead.clear()
    dead.add(1)
    // 0 and 1 are in quarantine: 2 of 4.
    expect([await ask(), taken()]).toEqual([2, [1, 2]])
    dead.add(2)
    // The third lets all out; the only one that has not been asked is in turn.
    expect([await ask(), taken()]).toEqual([3, [2, 3]])
    dead.add(3)
    dead.delete(0)
    expect([await ask(), taken()]).toEqual([0, [3, 0]])
  })

  it('fail with what each failed with, and are asked anew', async () => {
    const { dead, ask, taken } = setup(2)
    dead.add(0).add(1)
    await expect(ask()).rejects.toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      failure: 'unreachable',
      message: 'none of 2 test servers answered: r0 is dead; r1 is dead',
    })
    dead.clear()
    taken()
    expect(await ask()).toBe(0)
  })

  it('who hangs until the question is given up is not the first of the next one', async () => {
    let nowMs = 0
    const addresses = [0, 1, 2].map((i) => registryAddress(`http://r${i}`, 'url'))
    const endpoints = new Endpoints('test', addresses, () => nowMs)
    const asked: string[] = []
    const ask = (waitMs: number) => {
      const stop = new AbortController()
      return endpoints.ask(stop.signal, async ({ base }) => {
        asked.push(base.slice('http://'.length))
        if (base !== 'http://r0') return base
        nowMs += waitMs
        stop.abort(new Error('given up'))
        throw stop.signal.reason
      })
    }
    // Somebody has lost interest at once: that says nothing of the server.
    await expect(ask(10)).rejects.toThrow('given up')
    await expect(ask(3_000)).rejects.toThrow('given up')
    await ask(3_000)
    expect(asked).toEqual(['r0', 'r0', 'r1'])
  })

  it('one alone fails with its own error; who aborts asks no others', async () => {
    const one = setup(1)
    one.dead.add(0)
    await expect(one.ask()).rejects.toThrow(/^r0 is dead$/)
    const many = setup(3)
    many.dead.add(0)
    await expect(many.ask(AbortSignal.abort())).rejects.toThrow(/r0 is dead/)
    expect(many.asked).toEqual([0])
  })
})

describe('a backoff', () => {
  it('doubles from the least to the most, drawn from half to one and a half of it', () => {
    for (const random of [0, 0.5, 0.999]) {
      const backoff = new Backoff({ minMs: 100, maxMs: 1_000 }, () => random)
      const waits = Array.from({ length: 40 }, () => backoff.next() / (0.5 + random)).map(Math.round)
      expect(waits.slice(0, 6)).toEqual([100, 200, 400, 800, 1_000, 1_000])
      expect(new Set(waits.slice(6))).toEqual(new Set([1_000]))
      backoff.reset()
      expect(Math.round(backoff.next() / (0.5 + random))).toBe(100)
      for (let i = 0; i < 9; i++) backoff.next()
      expect(Math.round(backoff.next(300) / (0.5 + random))).toBe(300)
      expect(Math.round(backoff.next(10) / (0.5 + random))).toBe(100)
    }
  })
})

describe('a body of one JSON value a line', () => {
  const options = { maxLineLength: 50, idleMs: 1_000, from: 'test' }
  const bodyOf = (pieces: readonly Uint8Array[], end: 'close' | 'error' | 'open' = 'close') => {
    const state = { cancelled: false }
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece)
        if (end === 'close') controller.close()
      },
      pull(controller) {
        if (end === 'error') controller.error(new Error('reset'))
      },
      cancel() {
        state.cancelled = true
      },
    })
    return Object.assign(state, { stream })
  }
  const bytes = (text: string) => new TextEncoder().encode(text)
  const all = async (stream: ReadableStream<Uint8Array>) => {
    const values: unknown[] = []
    for await (const value of jsonLines(stream, options)) values.push(value)
    return values
  }

  it('takes as long as it is long, in however small pieces it comes', { timeout: 5_000 }, async () => {
    const line = bytes(`"${'x'.repeat(8_000_000)}"\n`)
    const parts = Array.from({ length: Math.ceil(line.length / 500) }, (_, i) => line.subarray(500 * i, 500 * i + 500))
    const values = jsonLines(bodyOf(parts).stream, { ...options, maxLineLength: 8 * 2 ** 20 })
    expect((await values.next()).value).toHaveLength(8_000_000)
  })

  it('is read whatever the pieces it comes in, characters cut in two too', async () => {
    const text = '{"a":"€😀"}\n\n  \r\n[1,2]\r\n"end"'
    const whole = bytes(text)
    for (let cut = 0; cut <= whole.length; cut++) {
      expect(await all(bodyOf([whole.slice(0, cut), whole.slice(cut)]).stream)).toEqual([{ a: '€😀' }, [1, 2], 'end'])
    }
    expect(await all(bodyOf([...whole].map((byte) => Uint8Array.of(byte))).stream)).toHaveLength(3)
    expect(await all(bodyOf([]).stream)).toEqual([])
  })

  it('is malformed where a line is none, or cut at the end', async () => {
    for (const text of ['{"a":1}\n{"b":', 'no\n', '<html>\n']) {
      await expect(all(bodyOf([bytes(text)]).stream)).rejects.toMatchObject({ failure: 'malformed' })
    }
  })

  it('is too large where a line is, ended or not, and is let go', async () => {
    for (const text of [`"${'x'.repeat(60)}"\n`, 'x'.repeat(51)]) {
      const body = bodyOf([bytes('1\n'), bytes(text)], 'open')
      await expect(all(body.stream)).rejects.toMatchObject({ failure: 'too-large' })
      expect(body.cancelled).toBe(true)
    }
  })

  it('is unreachable where it breaks off, after what came before', async () => {
    const values: unknown[] = []
    const read = async () => {
      for await (const value of jsonLines(bodyOf([bytes('1\n')], 'error').stream, options)) values.push(value)
    }
    await expect(read()).rejects.toMatchObject({ failure: 'unreachable' })
    expect(values).toEqual([1])
  })

  it('is dead when nothing comes for a while, and leaves no timer', async () => {
    vi.useFakeTimers()
    try {
      const body = bodyOf([bytes('1\n')], 'open')
      const failed = all(body.stream).catch((error) => error)
      await vi.advanceTimersByTimeAsync(999)
      expect(body.cancelled).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(await failed).toMatchObject({ failure: 'timeout' })
      expect([body.cancelled, vi.getTimerCount()]).toEqual([true, 0])
    } finally {
      vi.useRealTimers()
    }
  })

  it('is let go by who stops reading', async () => {
    const body = bodyOf([bytes('1\n2\n')], 'open')
    for await (const value of jsonLines(body.stream, options)) {
      expect(value).toBe(1)
      break
    }
    expect(body.cancelled).toBe(true)
  })
})

describe('the list of a registry', () => {
  const found = (instanceId: string, host = instanceId, rest: Partial<Found> = {}): Found => ({
    instanceId,
    host,
    port: 80,
    secure: false,
    metadata: { zone: 'z' },
    ...rest,
  })
  const idsOf = (list: readonly unknown[]) => list.map((each) => (each as Found).instanceId)

  it('is by instance id, and the same object while it says the same in any order', () => {
    const keeper = new ListKeeper()
    const first = keeper.keep([found('b'), found('a'), found('c')])
    expect(idsOf(first)).toEqual(['a', 'b', 'c'])
    expect(keeper.keep([found('c'), found('a'), found('b')])).toBe(first)
    const second = keeper.keep([found('c'), found('b', 'moved'), found('a')])
    expect([second[0] === first[0], second[1] === first[1], second[2] === first[2]]).toEqual([true, false, true])
    const third = keeper.keep([found('0'), found('c')])
    expect(third[1]).toBe(first[2])
    expect(keeper.keep([])).toEqual([])
  })

  it('has who is listed twice once: the higher rank, else the first by id, and says so', () => {
    const keeper = new ListKeeper()
    expect(idsOf(keeper.keep([found('a', 'x'), found('b', 'x', { rank: 1 }), found('c', 'y')]))).toEqual(['b', 'c'])
    expect(keeper.remarks.merged).toBe('"a" at x:80 (the same address as "b" at x:80)')
    const same = keeper.keep([found('a', 'x'), found('a', 'y', { rank: 2 }), found('a', 'z', { rank: 1 })])
    expect(same).toMatchObject([{ instanceId: 'a', host: 'y' }])
    expect(keeper.remarks.merged).toMatch(/the same id/)
    keeper.keep([found('a')], ['"q" has no port'])
    expect(keeper.remarks).toEqual({ unreadable: '"q" has no port' })
    keeper.keep(
      [found('a')],
      Array.from({ length: 8 }, (_, i) => `no ${i}`),
    )
    expect(keeper.remarks.unreadable).toMatch(/no 4; and 3 more$/)
  })

  it('loses nobody to an entry that is left out itself, and is the same in whatever order it is told', () => {
    // "b" at x goes for its id: it does not take the address from "a".
    const chain = [found('a', 'x'), found('b', 'x', { rank: 1 }), found('b', 'y', { rank: 2 })]
    const twins = [found('c', 'v'), found('c', 'w'), found('c', 'w', { port: 81 })]
    const keeper = new ListKeeper()
    const list = keeper.keep([...chain, ...twins])
    expect(list).toMatchObject([{ host: 'x' }, { host: 'y' }, { host: 'v' }])
    expect(keeper.keep([...twins, ...chain].reverse())).toBe(list)
    expect(keeper.keep([...chain.slice(1), ...twins.slice(1), chain[0] as Found, twins[0] as Found])).toBe(list)
  })

  it('looks at addresses again when somebody comes or moves to one that is taken', () => {
    const keeper = new ListKeeper()
    keeper.keep([found('a', 'x'), found('b', 'y')])
    expect(idsOf(keeper.keep([found('a', 'x'), found('b', 'x')]))).toEqual(['a'])
    expect(idsOf(keeper.keep([found('a', 'x'), found('b', 'x')]))).toEqual(['a'])
    expect(idsOf(keeper.keep([found('0', 'x'), found('a', 'x')]))).toEqual(['0'])
    expect(keeper.remarks.merged).toMatch(/^"a" at x:80 \(the same address as "0"/)
    expect(idsOf(keeper.keep([found('0', 'x')]))).toEqual(['0'])
    expect(keeper.remarks).toEqual({})
  })

  it('is what a simple model says, for 3 000 random lists', () => {
    const random = seeded(11)
    const keeper = new ListKeeper()
    let before = new Map<string, unknown>()
    let last: readonly unknown[] = []
    for (let round = 0; round < 3_000; round++) {
      const entries = Array.from({ length: Math.floor(random() * 7) }, () =>
        found(`i${Math.floor(random() * 6)}`, `h${Math.floor(random() * 6)}`, {
          rank: Math.floor(random() * 3),
          metadata: random() < 0.8 ? { zone: 'z' } : { zone: 'y' },
        }),
      )
      const list = keeper.keep(entries)
      const ids = idsOf(list)
      expect(ids).toEqual([...new Set(ids)].sort())
      const addresses = list.map((each) => (each as Found).host)
      expect(new Set(addresses).size).toBe(addresses.length)
      // Everybody on it was found as he is, and who was left out has a rival on it of no lower rank than his own.
      const key = ({ instanceId, host, metadata }: Found) => `${instanceId} ${host} ${metadata.zone}`
      const keys = new Set(entries.map(key))
      for (const each of list) expect(keys).toContain(key(each as Found))
      if (entries.length > 0) expect(list.length).toBeGreaterThan(0)
      const most = Math.max(...entries.map(({ rank = 0 }) => rank))
      if (entries.length > 0) {
        const best = new Set(entries.filter(({ rank }) => rank === most).map(key))
        expect(list.some((each) => best.has(key(each as Found)))).toBe(true)
      }
      const now = new Map(list.map((each) => [key(each as Found), each] as const))
      for (const [each, object] of now) if (before.has(each)) expect(object).toBe(before.get(each))
      if (now.size === before.size && [...now.keys()].every((each) => before.has(each))) expect(list).toBe(last)
      before = now
      last = list
    }
  })
})

describe('a watch that goes on', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    vi.setSystemTime(0)
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  function setup(session: (number: number) => AsyncIterable<string>) {
    const stop = new AbortController()
    const state = { begun: [] as number[], values: [] as string[], failures: [] as string[], stop, ended: false }
    const failed = (error: unknown) => state.failures.push((error as Error).message)
    const run = async () => {
      const lists = watchLoop(() => session(state.begun.push(Date.now())), {
        options: { signal: stop.signal, failed },
        backoff: new Backoff({ minMs: 1_000, maxMs: 30_000 }, () => 0.5),
        clock: () => Date.now(),
      })
      for await (const value of lists) state.values.push(value)
      state.ended = true
    }
    void run()
    return state
  }

  it('tells of each failure, and begins again after pauses that grow; without a list they stay short', async () => {
    const state = setup(async function* (number) {
      if (number === 7) yield 'list'
      throw new Error(`failure ${number}`)
    })
    await vi.advanceTimersByTimeAsync(120_000)
    const seconds = state.begun.map((at) => at / 1_000)
    expect(seconds.slice(0, 8)).toEqual([0, 1, 3, 7, 12, 17, 22, 52])
    expect([state.values, state.failures[0]]).toEqual([['list'], 'failure 1'])
    state.stop.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect([state.ended, vi.getTimerCount()]).toEqual([true, 0])
  })

  it('takes the end of a session for a failure, and a long one for a good one', async () => {
    const state = setup(async function* (number) {
      yield `list ${number}`
      if (number >= 4) await new Promise((resolve) => setTimeout(resolve, 10_000))
    })
    await vi.advanceTimersByTimeAsync(40_000)
    expect(state.begun.map((at) => at / 1_000)).toEqual([0, 1, 3, 7, 18, 29, 40])
    expect(state.failures[0]).toBe('the registry ended the watch')
    state.stop.abort()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(state.ended).toBe(true)
  })

  it('says nothing more when it was ended', async () => {
    const state = setup(async function* () {
      yield 'list'
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      throw new Error('aborted')
    })
    await vi.advanceTimersByTimeAsync(500)
    state.stop.abort()
    await vi.advanceTimersByTimeAsync(60_000)
    expect([state.failures, state.begun.length, state.ended, vi.getTimerCount()]).toEqual([[], 1, true, 0])
  })
})
