import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  ProtocolRegistration,
  type RegistrationProtocol,
  registrantOf,
} from '../../bindings/discovery/registry/registration.js'
import type { RegistrationOptions, RegistrationStatus } from '../../bindings/index.js'
import { seeded } from './seeded.js'

beforeEach(() => {
  vi.useFakeTimers()
  vi.setSystemTime(0)
})
afterEach(() => {
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const RENEWAL_MS = 30_000

type Fault = 'none' | 'down' | 'hangs' | 'lost'

/** A registry that has one instance or not, and can fail before or after it has taken what it was told. */
function fakeRegistry() {
  const registry = {
    has: undefined as RegistrationStatus | undefined,
    fault: 'none' as Fault,
    log: [] as string[],
    latencyMs: 0,
    release: () => {},
  }
  const told = async <T>(what: string, signal: AbortSignal, take: () => T): Promise<T> => {
    registry.log.push(`${Date.now() / 1_000} ${what}`)
    const { fault } = registry
    if (registry.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, registry.latencyMs))
    if (fault === 'down') throw new Error('down')
    if (fault === 'hangs') {
      await new Promise<void>((resolve, reject) => {
        registry.release = resolve
        // As a client's own time limit.
        const limit = setTimeout(() => reject(new Error('timeout')), 5_000)
        signal.addEventListener('abort', () => (clearTimeout(limit), reject(signal.reason)), { once: true })
      })
    }
    const answer = take()
    // It has taken it, and the answer is lost.
    if (fault === 'lost') throw new Error('lost')
    return answer
  }
  const protocol: RegistrationProtocol = {
    renewalMs: RENEWAL_MS,
    register: (status, signal) => told(`register ${status}`, signal, () => void (registry.has = status)),
    renew: (_, signal) => told('renew', signal, () => registry.has !== undefined),
    setStatus: (status, signal) =>
      told(`status ${status}`, signal, () => {
        if (registry.has === undefined) return false
        registry.has = status
        return true
      }),
    deregister: (signal) => told('deregister', signal, () => void (registry.has = undefined)),
  }
  return Object.assign(registry, { protocol })
}

const instance = registrantOf({ serviceId: 's', instanceId: 'me', host: 'a', port: 80 })

function setup(options: RegistrationOptions = {}, random: () => number = () => 0.5) {
  const registry = fakeRegistry()
  const make = () => new ProtocolRegistration(instance, registry.protocol, { random }, options)
  return { registry, make }
}

describe('a registration', () => {
  it('is made at once, and renewed a little earlier than it must be', async () => {
    const { registry, make } = setup()
    const registration = make()
    expect([registration.state, registration.status]).toEqual(['registering', 'UP'])
    await registration.ready()
    expect(registration.state).toBe('registered')
    await passMs(60_000)
    expect(registry.log).toEqual(['0 register UP', '28.5 renew', '57 renew'])
    expect(registration.stats()).toEqual({ registrations: 1, renewals: 2, failures: 0, lastError: undefined })
    await registration.close()
    expect([registry.has, registry.log.at(-1), registration.state]).toEqual([undefined, '60 deregister', 'closed'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is tried on with a backoff while the registry is down, each failure told', async () => {
    const failures: string[] = []
    const { registry, make } = setup({ failed: (error) => failures.push((error as Error).message) })
    registry.fault = 'down'
    const registration = make()
    await passMs(95_000)
    expect(registry.log.map((line) => Number(line.split(' ')[0]))).toEqual([0, 1, 3, 7, 15, 31, 61, 91])
    expect([failures.length, registration.state, registration.stats().failures]).toEqual([8, 'registering', 8])
    registry.fault = 'none'
    await passMs(30_000)
    await registration.ready()
    expect([registration.state, registration.stats().lastError]).toEqual(['registered', undefined])
    await registration.close()
  })

  it('says in time why it is not there yet', async () => {
    const { registry, make } = setup()
    registry.fault = 'down'
    const registration = make()
    const waited = registration.ready({ timeoutMs: 2_000 }).catch((error) => error)
    await passMs(2_000)
    expect(await waited).toMatchObject({
      code: 'EVENKEEL_TIMEOUT',
      message: 'registering "me" took longer than 2000 ms: down',
      cause: registration.stats().lastError,
    })
    registry.fault = 'none'
    await registration.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('can be closed again where the registry did not take the end', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.ready()
    registry.fault = 'down'
    await expect(registration.close()).rejects.toThrow('down')
    expect(registry.has).toBe('UP')
    registry.fault = 'none'
    await registration.close()
    await registration.close()
    expect([registry.has, registry.log.filter((line) => line.endsWith('deregister')).length]).toEqual([undefined, 2])
  })

  it('is refused for who has no port, and for names that no path takes', () => {
    const refused = (init: object) => () => registrantOf({ serviceId: 's', host: 'a', port: 80, ...init })
    expect(refused({ port: -1 })).toThrow('the instance to register needs the port that it listens on: "a" has none')
    expect(refused({ port: 0 })).toThrow('"a:0" has port 0')
    expect(refused({ instanceId: '..' })).toThrow(`can't be named ".."`)
    expect(refused({ serviceId: '.' })).toThrow(`can't be named "."`)
  })

  it('leaves no rejection to nobody where who is told of a failure is async', async () => {
    const unhandled: unknown[] = []
    const listen = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', listen)
    const { registry, make } = setup({ failed: async () => Promise.reject(new Error('own')) })
    registry.fault = 'down'
    const registration = make()
    await passMs(500)
    registry.fault = 'none'
    await passMs(500)
    vi.useRealTimers()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', listen)
    expect([unhandled, registry.has]).toEqual([[], 'UP'])
    await registration.close()
  })

  it('is not ended by who throws when he is told of a failure', async () => {
    const { registry, make } = setup({
      failed() {
        throw new Error('own')
      },
    })
    registry.fault = 'down'
    const registration = make()
    await passMs(500)
    registry.fault = 'none'
    await passMs(500)
    expect(registry.has).toBe('UP')
    await registration.close()
  })

  it('is made anew where the registry has forgotten it, with the status it is to have', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.setStatus('OUT_OF_SERVICE')
    registry.has = undefined
    await passMs(28_500)
    expect(registry.log.slice(-2)).toEqual(['28.5 renew', '28.5 register OUT_OF_SERVICE'])
    expect([registry.has, registration.stats().registrations]).toEqual(['OUT_OF_SERVICE', 2])
    registry.has = undefined
    await registration.setStatus('UP')
    expect([registry.has, registration.stats().registrations]).toEqual(['UP', 3])
    await registration.close()
  })

  it('says that it is failing while renewals fail', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.ready()
    registry.fault = 'down'
    await passMs(28_500)
    expect([registration.state, registry.has]).toEqual(['failing', 'UP'])
    registry.fault = 'none'
    await passMs(1_000)
    expect(registration.state).toBe('registered')
    await registration.close()
  })

  it('has a status told that was set while a renewal hangs', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.ready()
    registry.fault = 'hangs'
    await passMs(28_500)
    const set = registration.setStatus('OUT_OF_SERVICE')
    registry.fault = 'none'
    registry.release()
    await set
    expect(registry.has).toBe('OUT_OF_SERVICE')
    await registration.close()
  })

  it('has only the last of several statuses told, and each call resolved', async () => {
    const { registry, make } = setup()
    registry.latencyMs = 100
    const registration = make()
    await passMs(50)
    const calls = (['OUT_OF_SERVICE', 'UP', 'OUT_OF_SERVICE'] as const).map((status) => registration.setStatus(status))
    await passMs(200)
    await Promise.all(calls)
    expect([registry.has, registry.log.map((line) => line.slice(line.indexOf(' ') + 1))]).toEqual([
      'OUT_OF_SERVICE',
      ['register UP', 'status OUT_OF_SERVICE'],
    ])
    const closed = registration.close()
    await passMs(200)
    await closed
  })

  it('is waited for no longer than the caller says, and goes on', async () => {
    const { registry, make } = setup()
    registry.fault = 'down'
    const registration = make()
    const late = registration.ready({ timeoutMs: 100 }).catch((error) => error)
    await passMs(100)
    expect(await late).toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
    const reason = new Error('enough')
    await expect(registration.ready({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    registry.fault = 'none'
    await passMs(1_000)
    expect(registry.has).toBe('UP')
    await registration.close()
    await expect(registration.ready()).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
    await expect(registration.setStatus('UP')).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
  })
})

describe('the end of a registration', () => {
  it('while it is being made comes after what is under way', async () => {
    const { registry, make } = setup()
    registry.latencyMs = 1_000
    const registration = make()
    await passMs(500)
    const waiting = registration.ready().catch((error) => error.code)
    const closed = registration.close()
    expect(registration.close()).toBe(closed)
    await passMs(2_000)
    await closed
    expect(await waiting).toBe('EVENKEEL_CLOSED')
    expect(registry.log).toEqual(['0 register UP', '1 deregister'])
    expect([registry.has, vi.getTimerCount()]).toEqual([undefined, 0])
  })

  it('comes after what the registry takes though its connection was broken off', async () => {
    const { registry } = setup()
    // As over HTTP: whoever breaks off is told at once, the server goes on.
    const protocol: RegistrationProtocol = {
      ...registry.protocol,
      register: (status, signal) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
          setTimeout(() => resolve(void (registry.has = status)), 1_000)
        }),
    }
    const registration = new ProtocolRegistration(instance, protocol, { random: () => 0.5 })
    await passMs(500)
    const closed = registration.close()
    await passMs(5_000)
    await closed
    expect([registry.has, registry.log, vi.getTimerCount()]).toEqual([undefined, ['1 deregister'], 0])
  })

  it('waits two seconds for what hangs, then breaks it off; what was forgotten meanwhile is not made anew', async () => {
    const { registry, make } = setup()
    registry.fault = 'hangs'
    const registration = make()
    await passMs(500)
    const closed = registration.close()
    registry.fault = 'none'
    await passMs(2_000)
    await closed
    expect([registry.log, registration.state]).toEqual([['0 register UP', '2.5 deregister'], 'closed'])
    vi.setSystemTime(0)
    const other = setup()
    const renewed = other.make()
    await renewed.ready()
    other.registry.latencyMs = 1_000
    await passMs(29_000)
    other.registry.has = undefined
    const end = renewed.close()
    await passMs(5_000)
    await end
    expect(other.registry.log).toEqual(['0 register UP', '28.5 renew', '29.5 deregister'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('takes durations as texts', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.ready()
    const options = { propagationMs: '10s', drainMs: 'PT5S', inFlight: () => 1 } as never
    const end = registration.shutdown(options)
    await passMs(15_000)
    await end
    expect(registry.log).toEqual(['0 register UP', '0 status OUT_OF_SERVICE', '15 deregister'])
  })

  it('while the registry is down is one attempt, which says that it failed', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.ready()
    registry.fault = 'down'
    await expect(registration.close()).rejects.toThrow(/down/)
    await passMs(300_000)
    expect([registry.log.length, registration.state, vi.getTimerCount()]).toEqual([2, 'closed', 0])
  })

  it('in good order is OUT_OF_SERVICE, the time to hear of it, the time to drain, then deregistration', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.ready()
    let inFlight = 3
    const end = registration.shutdown({ propagationMs: 10_000, drainMs: 5_000, inFlight: () => inFlight })
    await passMs(9_999)
    expect([registry.has, registry.log.at(-1)]).toEqual(['OUT_OF_SERVICE', '0 status OUT_OF_SERVICE'])
    await passMs(2_001)
    expect(registry.has).toBe('OUT_OF_SERVICE')
    inFlight = 0
    await passMs(50)
    await end
    expect(registry.log.at(-1)).toMatch(/^12(\.05)? deregister$/)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('in good order waits for requests no longer than drainMs, and for none where nobody counts them', async () => {
    for (const [more, endAt] of [
      [{ drainMs: 5_000, inFlight: () => 1 }, '15 deregister'],
      [{ drainMs: 5_000 }, '10 deregister'],
    ] as const) {
      vi.setSystemTime(0)
      const { registry, make } = setup()
      const registration = make()
      await registration.ready()
      const end = registration.shutdown({ propagationMs: 10_000, ...more })
      await passMs(15_000)
      await end
      expect(registry.log.at(-1)).toBe(endAt)
    }
  })

  it('in good order goes on where the registry is down', async () => {
    const { registry, make } = setup()
    const registration = make()
    await registration.ready()
    registry.fault = 'down'
    const end = registration.shutdown({ propagationMs: 2_000 }).catch((error) => error.message)
    await passMs(10_000)
    expect([await end, registration.state, vi.getTimerCount()]).toEqual(['down', 'closed', 0])
  })

  it('takes only what it knows', async () => {
    const { make } = setup()
    const registration = make()
    await expect(registration.shutdown({} as never)).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG' })
    await expect(registration.setStatus('DOWN' as never)).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG' })
    await registration.close()
  })
})

describe('whatever happens', () => {
  it('a healthy registry ends up with the status that is wanted, and after the end with nothing', async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const random = seeded(seed)
      const { registry, make } = setup({}, random)
      registry.latencyMs = random() < 0.5 ? 0 : 300
      const registration = make()
      let wanted: RegistrationStatus = 'UP'
      const calls: Promise<unknown>[] = []
      for (let step = 0; step < 25; step++) {
        const what = random()
        if (what < 0.35) {
          wanted = random() < 0.5 ? 'UP' : 'OUT_OF_SERVICE'
          calls.push(registration.setStatus(wanted))
        } else if (what < 0.7) {
          registry.fault = (['none', 'down', 'hangs', 'lost'] as const)[Math.floor(random() * 4)] as Fault
        } else if (what < 0.8) {
          registry.has = undefined
        }
        await passMs(random() * (random() < 0.5 ? 500 : 40_000))
      }
      registry.fault = 'none'
      await passMs(2 * RENEWAL_MS + 10_000)
      expect([seed, registry.has, registration.state]).toEqual([seed, wanted, 'registered'])
      // Nobody who set a status waits any more.
      await Promise.all(calls)
      const closed = registration.close()
      await passMs(10_000)
      await closed
      await passMs(100_000)
      expect([seed, registry.has, vi.getTimerCount()]).toEqual([seed, undefined, 0])
    }
  })
})
