/** @module Requests go on whatever happens to the registry. */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { TestRegistry } from '../registry.js'
import { RequestStream } from './request-stream.js'
import type { World } from './world.js'

const PER_SECOND = 100
/** A registry that says nothing is noticed by a time limit, of a watch that is to be quiet by a longer one. */
const NOTICED_MS = 60_000

const OUTAGES: Record<
  string,
  { begin(registry: TestRegistry): Promise<void>; end(registry: TestRegistry): Promise<void> }
> = {
  killed: { begin: (registry) => registry.kill(), end: (registry) => registry.start() },
  stopped: { begin: (registry) => registry.stop(), end: (registry) => registry.start() },
  hung: { begin: (registry) => registry.hang(), end: (registry) => registry.resume() },
}

export function outageCases(world: World): void {
  describe.sequential.each(Object.entries(OUTAGES))('a registry that is %s', (kind, { begin, end }) => {
    it('fails no request, tells of it, and has a later change within the bound once it is back', async () => {
      world.newService()
      const instances = await world.instances(3)
      const late = await world.instance('late')
      await world.add(...instances)
      const caller = world.caller()
      await caller.lists(instances, world.boundMs)
      const before = caller.service.instances()
      const stream = new RequestStream(caller.service, PER_SECOND)
      world.atEnd(() => stream.stop())
      await stream.more(10)

      await begin(world.registry)
      await caller.failures(1, NOTICED_MS)
      const [source] = (await caller.service.explain()).layers
      const agedMs = caller.service.stats().listAgeMs
      await caller.failures(1, NOTICED_MS)
      await stream.more(20)
      const [sourceLater] = (await caller.service.explain()).layers
      expect(caller.service.stats().listAgeMs, 'the age in stats grows').toBeGreaterThan(agedMs)
      expect(sourceLater?.ageMs, 'the age in explain grows').toBeGreaterThan(source?.ageMs ?? Number.NaN)
      expect(caller.told.at(-1)).toMatchObject({ error: { code: 'EVENKEEL_DISCOVERY' } })
      expect(caller.told.at(-1)?.servedAgeMs).toBeGreaterThan(0)
      expect(caller.service.stats().discoveryErrors).toBe(caller.told.length)
      expect(caller.service.instances(), 'the last list is served').toEqual(before)

      await end(world.registry)
      if (kind !== 'hung') await world.remind()
      await world.add(late)
      await caller.lists([...instances, late], world.boundAfterMs(caller))
      await stream.more(20)
      await stream.stop()
      expect(stream.errors).toEqual([])
      expect(late.answered).toBeGreaterThan(0)
    })
  })

  it('a restart during requests fails none, and who did not change stays the same object', async () => {
    world.newService()
    const instances = await world.instances(3)
    const late = await world.instance('late')
    await world.add(...instances)
    const caller = world.caller()
    await caller.lists(instances, world.boundMs)
    const before = new Map(caller.service.instances().map((instance) => [instance.port, instance]))
    const stream = new RequestStream(caller.service, PER_SECOND)
    world.atEnd(() => stream.stop())
    await world.registry.stop()
    await world.registry.start()
    await world.remind()
    await world.add(late)
    await caller.lists([...instances, late], world.boundAfterMs(caller))
    await stream.stop()
    expect(stream.errors).toEqual([])
    // One without a memory may have been asked while it knew only some.
    if (!world.registry.remembers) return
    for (const { port } of instances) {
      expect(caller.service.instances().find((instance) => instance.port === port)).toBe(before.get(port))
    }
  })

  it('a silence keeps the objects of the list', async () => {
    world.newService()
    const instances = await world.instances(3)
    const late = await world.instance('late')
    await world.add(...instances)
    const caller = world.caller()
    await caller.lists(instances, world.boundMs)
    const before = caller.service.instances().filter(({ port }) => port !== late.port)
    await world.registry.hang()
    await caller.failures(1, NOTICED_MS)
    await world.registry.resume()
    await world.add(late)
    await caller.lists([...instances, late], world.boundAfterMs(caller))
    const after = caller.service.instances()
    for (const instance of before) expect(after).toContain(instance)
  })

  it('a slow registry fails no request, and delays a change by no more than it is slow', async () => {
    world.newService()
    const [first, second] = await world.instances(2)
    if (!first || !second) throw new Error('no instances')
    await world.add(first)
    const caller = world.caller()
    await caller.lists([first], world.boundMs)
    const stream = new RequestStream(caller.service, PER_SECOND)
    world.atEnd(() => stream.stop())
    const slowness = new Slowness(world.registry)
    world.atEnd(() => slowness.end())
    await slowness.between(() => world.add(second))
    await caller.lists([first, second], world.boundMs + 4 * SLOW_MS)
    await slowness.end()
    await stream.stop()
    expect(stream.errors).toEqual([])
  })

  it('a registry that is down at the first use is asked until it is up', async () => {
    world.newService()
    const [first] = await world.instances(1)
    if (!first) throw new Error('no instance')
    await world.registry.stop()
    const caller = world.caller()
    await caller.failures(1, NOTICED_MS)
    await expect(caller.service.choose({}, { timeoutMs: 10_000 })).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    await world.registry.start()
    await world.add(first)
    await caller.lists([first], world.boundAfterMs(caller))
    expect(await (await caller.service.fetch('/')).text()).toBe(first.name)
  })
}

const SLOW_MS = 300
const AWAKE_MS = 50

/** It does its work in short spells: each answer is late by up to `SLOW_MS`, none is lost. */
class Slowness {
  readonly #registry: TestRegistry
  readonly #loop: Promise<void>
  #ended = false
  #between: (() => Promise<void>) | undefined

  constructor(registry: TestRegistry) {
    this.#registry = registry
    this.#loop = this.#run()
  }

  /** Does something by the registry while it is awake. */
  between(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#between = () => work().then(resolve, reject)
    })
  }

  async end(): Promise<void> {
    this.#ended = true
    await this.#loop
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      await this.#registry.hang()
      await pause(SLOW_MS)
      await this.#registry.resume()
      const work = this.#between
      this.#between = undefined
      await work?.()
      await pause(AWAKE_MS)
    }
  }
}
