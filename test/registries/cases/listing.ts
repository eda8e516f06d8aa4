/** @module Who is listed, and how soon a change is. */

import { expect, it } from 'vitest'
import type { World } from './world.js'

/** What some registries have no word for. */
export interface Lacks {
  weight?: boolean
  zone?: boolean
}

export function listingCases(world: World, lacks: Lacks): void {
  it('lists who is registered, with host, port, weight and zone', async () => {
    world.newService()
    const [first, second] = await world.instances(2)
    if (!first || !second) throw new Error('no instances')
    await world.add(first.entry({ weight: 3, zone: 'z1' }), second.entry({ weight: 1, zone: 'z2' }))
    const caller = world.caller()
    await caller.lists([first, second], world.boundMs)
    const found = caller.service.instances().map(({ port, secure, serviceId, metadata }) => {
      return { port, secure, serviceId, weight: Number(metadata.weight), zone: metadata.zone }
    })
    const expected = [
      { port: first.port, weight: 3, zone: 'z1' },
      { port: second.port, weight: 1, zone: 'z2' },
    ].map(({ port, weight, zone }) => ({
      port,
      secure: false,
      serviceId: world.serviceId,
      weight: lacks.weight ? expect.any(Number) : weight,
      zone: lacks.zone ? undefined : zone,
    }))
    expect(found.toSorted((a, b) => a.port - b.port)).toEqual(expected.toSorted((a, b) => a.port - b.port))
    const answers = await Promise.all(Array.from({ length: 8 }, async () => (await caller.service.fetch('/')).text()))
    expect(new Set(answers)).toEqual(new Set([first.name, second.name]))
  })

  it('has a registration and a removal in its list within the bound', async () => {
    world.newService()
    const [first, second] = await world.instances(2)
    if (!first || !second) throw new Error('no instances')
    await world.add(first)
    const caller = world.caller()
    await caller.lists([first], world.boundMs)
    await world.add(second)
    await caller.lists([first, second], world.boundMs)
    const kept = caller.service.instances().find(({ port }) => port === second.port)
    await world.remove(first)
    await caller.lists([second], world.boundMs)
    expect(caller.service.instances()[0], 'who stays is the same object').toBe(kept)
    expect(caller.told).toEqual([])
  })

  it('answers the one-shot question as the watch does', async () => {
    world.newService()
    const instances = await world.instances(3)
    await world.add(...instances)
    const client = world.client()
    world.atEnd(async () => client.close?.())
    const list = await client.get?.(world.serviceId, { signal: AbortSignal.timeout(10_000) })
    const ports = (list ?? []).map((each) => (typeof each === 'object' && 'port' in each ? Number(each.port) : 0))
    expect(ports.sort()).toEqual(instances.map(({ port }) => port).sort())
  })

  it('takes a service that nobody has registered for one without instances', async () => {
    world.newService()
    const caller = world.caller()
    expect(await caller.service.choose({}, { timeoutMs: 10_000 })).toBeUndefined()
    expect(caller.service.stats()).toMatchObject({ discovered: 0, discoveryErrors: 0 })
    const [first] = await world.instances(1)
    if (!first) throw new Error('no instance')
    await world.add(first)
    await caller.lists([first], world.boundMs)
  })
}
