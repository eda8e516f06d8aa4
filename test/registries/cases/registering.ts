/** @module Registrations of this library's own, as another client sees them. */

import { expect, it } from 'vitest'
import type { Registration } from '../../../bindings/index.js'
import type { Caller } from './caller.js'
import { RequestStream } from './request-stream.js'
import type { TestInstance } from './test-instance.js'
import type { World } from './world.js'

/** A registry that was restarted hears of who was registered with the next renewal. */
const RENEWED_MS = 45_000
const REGISTERED_MS = 10_000
const PER_SECOND = 200
const CACHE_MS = 400

export function registeringCases(world: World): void {
  /** The registration of an instance, made by a client of its own. */
  const register = async (instance: TestInstance): Promise<Registration> => {
    const client = world.client()
    world.atEnd(async () => client.close?.())
    if (client.register === undefined) throw new Error(`${client.name} does not register`)
    const registration = client.register({ serviceId: world.serviceId, ...instance.entry() })
    world.atEnd(() => registration.close().catch(() => {}))
    await registration.ready({ timeoutMs: REGISTERED_MS })
    return registration
  }
  const two = async (): Promise<[TestInstance, TestInstance]> => {
    world.newService()
    return (await world.instances(2)) as [TestInstance, TestInstance]
  }

  /** What the registry says when it is asked in another way. */
  const registryLists = async ({ service }: Caller) => {
    const ids = await world.registry.listed?.(world.serviceId)
    if (ids !== undefined)
      expect(ids).toEqual(
        service
          .instances()
          .map(({ instanceId }) => instanceId)
          .sort(),
      )
  }

  it('who registers is listed by others, hidden while OUT_OF_SERVICE, and gone after close', async () => {
    const [ours, other] = await two()
    await world.add(other)
    const registration = await register(ours)
    const caller = world.caller()
    await caller.lists([ours, other], world.boundMs)
    expect(registration.stats()).toMatchObject({ registrations: 1, failures: 0 })
    await registryLists(caller)

    await registration.setStatus('OUT_OF_SERVICE', { timeoutMs: REGISTERED_MS })
    await caller.lists([other], world.boundMs)
    await registryLists(caller)
    await registration.setStatus('UP', { timeoutMs: REGISTERED_MS })
    await caller.lists([ours, other], world.boundMs)
    await registration.close()
    await caller.lists([other], world.boundMs)
    await registryLists(caller)
  })

  it('a registry that was restarted has the registration again by itself', async () => {
    world.newService()
    const [ours] = (await world.instances(1)) as [TestInstance]
    const registration = await register(ours)
    const known = world.caller()
    await known.lists([ours], world.boundMs)
    await world.registry.kill()
    await world.registry.start()
    // Who never saw it before: what it lists is what the registry has now.
    const caller = world.caller({ emptyList: 'trust' })
    await caller.lists([ours], RENEWED_MS)
    expect(registration.state).toBe('registered')
    expect(known.addresses).toEqual([ours.address])
  })

  it('who registers while the registry is down is registered when it is up', async () => {
    world.newService()
    const [ours] = (await world.instances(1)) as [TestInstance]
    await world.registry.stop()
    const client = world.client()
    world.atEnd(async () => client.close?.())
    let fail: (error: unknown) => void = () => {}
    const failed = new Promise<unknown>((resolve) => {
      fail = resolve
    })
    const registration = client.register?.({ serviceId: world.serviceId, ...ours.entry() }, { failed: (e) => fail(e) })
    if (registration === undefined) throw new Error(`${client.name} does not register`)
    world.atEnd(() => registration.close().catch(() => {}))
    expect(await failed).toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    expect(registration.state).toBe('registering')
    await world.registry.start()
    await registration.ready({ timeoutMs: RENEWED_MS })
    await world.caller().lists([ours], world.boundMs)
  })

  for (const cached of [false, true]) {
    it(`a graceful shutdown under 200 requests/s loses none ${cached ? 'of a caller with a cache' : ''}`, async () => {
      const [ours, other] = await two()
      await world.add(other)
      const registration = await register(ours)
      const caller = callerOf(cached)
      const stream = new RequestStream(caller.service, PER_SECOND)
      world.atEnd(() => stream.stop())
      await listsBoth(caller, stream, [ours, other])
      await registration.shutdown({
        propagationMs: world.boundMs + (cached ? 2 * CACHE_MS : 0),
        drainMs: 5_000,
        inFlight: () => ours.inFlight,
      })
      await ours.kill()
      await stream.more(PER_SECOND / 2)
      await stream.stop()
      expect(stream.errors).toEqual([])
      expect(ours.answered).toBeGreaterThan(10)
    })
  }

  it('a process that just ends under 200 requests/s loses some', async () => {
    const [ours, other] = await two()
    await world.add(other)
    const registration = await register(ours)
    const caller = callerOf(false)
    const stream = new RequestStream(caller.service, PER_SECOND)
    world.atEnd(() => stream.stop())
    await listsBoth(caller, stream, [ours, other])
    const lost = stream.moreErrors(1)
    await ours.kill()
    await lost
    await registration.close()
    await stream.stop()
    expect(stream.errors.length).toBeGreaterThan(0)
  })

  const callerOf = (cached: boolean) => {
    if (!cached) return world.caller()
    const client = world.client()
    const { get } = client
    if (get === undefined) throw new Error(`${client.name} has no one-shot question`)
    return world.caller(
      { cache: { ttlMs: CACHE_MS, staleMs: CACHE_MS } },
      { name: `${client.name}, cached`, get: get.bind(client), close: async () => client.close?.() },
    )
  }

  const listsBoth = async (caller: Caller, stream: RequestStream, both: readonly TestInstance[]) => {
    await caller.lists(both, world.boundMs + 2 * CACHE_MS)
    await stream.more(50)
    // From before there was a list.
    stream.errors.length = 0
  }
}
