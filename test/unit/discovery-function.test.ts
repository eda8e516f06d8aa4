import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type DiscoveryFunction, discoveryFrom, type InstanceInit } from '../../bindings/index.js'

const one = ['http://a:1']
const settled = () => new Promise((resolve) => setImmediate(resolve))

function setup(discovery: DiscoveryFunction) {
  const time = { now: 0 }
  const lb = createLoadBalancer({ discovery, clock: () => time.now, defaults: { cache: { ttlMs: 100 } } })
  return { time, lb, service: lb.service('s') }
}

/** A stream of lists that is told what to say, and whether anybody still listens. */
function stream() {
  const waiting: ((list: readonly InstanceInit[] | Error | undefined) => void)[] = []
  const state = { begun: 0, ended: 0, signal: undefined as AbortSignal | undefined }
  async function* lists(_: string, { signal }: { signal: AbortSignal }) {
    state.begun++
    state.signal = signal
    try {
      for (;;) {
        const said = await new Promise<readonly InstanceInit[] | Error | undefined>((resolve) => waiting.push(resolve))
        if (said instanceof Error) throw said
        if (said === undefined) return
        yield said
      }
    } finally {
      state.ended++
    }
  }
  // Not a generator itself: nothing but its answer tells what kind of function it is.
  const discovery: DiscoveryFunction = (serviceId, options) => lists(serviceId, options)
  const say = async (said: readonly InstanceInit[] | Error | undefined) => {
    await settled()
    waiting.shift()?.(said)
    await settled()
  }
  return { discovery, state, say }
}

describe('a function as a discovery client', () => {
  it('is named by itself, or `custom`', () => {
    async function inventory() {
      return one
    }
    expect(discoveryFrom(inventory).name).toBe('inventory')
    expect(discoveryFrom(() => one).name).toBe('custom')
    expect(discoveryFrom(() => one, { name: 'mine', order: 2 })).toMatchObject({ name: 'mine', order: 2 })
    expect(() => discoveryFrom({} as never)).toThrow(/takes a function/)
  })

  it('may answer at once, or later', async () => {
    expect(setup(() => one).service.pick()?.instance.host).toBe('a')
    expect((await setup(async () => one).service.choose())?.instance.host).toBe('a')
    const failing = setup(() => {
      throw new Error('no')
    })
    await expect(failing.service.choose()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
  })

  it('is asked again when its list has grown old', async () => {
    let asked = 0
    const { time, service } = setup(async () => [`http://host${++asked}:1`])
    await service.choose()
    time.now = 250
    expect((await service.choose())?.instance.host).toBe('host2')
  })

  it('may push: each list is in force as it comes, and fresh until the end', async () => {
    const { discovery, state, say } = stream()
    const { time, service } = setup(discovery)
    const chosen = service.choose()
    await say(one)
    expect((await chosen)?.instance.host).toBe('a')
    time.now = 10_000
    expect(service.state).toBe('ready')
    await say(['http://b:1'])
    expect(service.pick()?.instance.host).toBe('b')
    await say([])
    expect(await service.choose()).toBeUndefined()
    await say(one)
    expect(state.begun).toBe(1)
    time.now += 5_000
    // After its end the list grows old, and then the function is called again.
    await say(undefined)
    time.now += 99
    service.pick()
    expect([service.state, state.begun]).toEqual(['ready', 1])
    time.now += 1
    service.pick()
    expect([service.state, state.begun]).toEqual(['stale', 2])
  })

  it('may push and fail: what it said last is served', async () => {
    const { discovery, state, say } = stream()
    const { time, service } = setup(discovery)
    service.pick()
    await say(one)
    await say(new Error('gone'))
    expect(service.state).toBe('stale')
    expect(service.pick()?.instance.host).toBe('a')
    expect(service.stats().discoveryErrors).toBe(1)
    // The first pause is one and a half seconds at most.
    time.now = 1_500
    service.pick()
    expect(state.begun).toBe(2)
  })

  it('may end without a word', async () => {
    const { discovery, say } = stream()
    const { service } = setup(discovery)
    const chosen = service.choose().catch((error) => error)
    await say(undefined)
    expect(await chosen).toMatchObject({ code: 'EVENKEEL_DISCOVERY', message: expect.stringMatching(/without a list/) })
  })

  it('is let go by close, and by a refresh, which asks it anew', async () => {
    const { discovery, state, say } = stream()
    const { lb, service } = setup(discovery)
    service.pick()
    await say(one)
    const { signal: first } = state
    const refresh = service.refresh()
    // The first of those who wait is the old stream, which says something too late.
    await say(['http://late:1'])
    await say(['http://new:1'])
    await refresh
    expect(first?.aborted).toBe(true)
    await say(['http://late:1'])
    expect(state.ended).toBe(1)
    expect(service.instances().map(({ host }) => host)).toEqual(['new'])
    expect(state.signal?.aborted).toBe(false)
    await lb.close()
    expect(state.signal?.aborted).toBe(true)
  })
})
