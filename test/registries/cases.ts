/** @module What holds for every registry, those of this repository and the real ones. */

import { describe } from 'vitest'
import { type Lacks, listingCases } from './cases/listing.js'
import { outageCases } from './cases/outages.js'
import { registeringCases } from './cases/registering.js'
import { World } from './cases/world.js'
import type { TestRegistry } from './registry.js'

export interface CaseOptions {
  /** What the registry has no word for. */
  lacks?: Lacks
  /** Whether its clients register. */
  registers: boolean
}

/**
 * Those of one registry after the other; those of several registries side by side, as they mostly wait.
 * @param make a registry that is not started yet; one for all cases
 */
export function registryCases(name: string, make: () => Promise<TestRegistry>, options: CaseOptions): void {
  describe.concurrent(name, () => {
    describe.sequential('as every registry', () => {
      const world = new World(make)
      listingCases(world, options.lacks ?? {})
      outageCases(world)
      if (options.registers) registeringCases(world)
    })
  })
}
