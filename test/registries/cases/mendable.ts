/** @module A registry that is as new for each case, without being started anew where nothing happened to it. */

import type { TestRegistry } from '../registry.js'

export type Mendable = TestRegistry & {
  /** Brings it up if a case has left it down. */
  mend(): Promise<void>
}

export function mendable(registry: TestRegistry): Mendable {
  let isUp = false
  let hangs = false
  const end = async (how: () => Promise<void>) => {
    isUp = false
    hangs = false
    await how()
  }
  const changed: Partial<TestRegistry> = {
    async start() {
      await registry.start()
      isUp = true
    },
    stop: () => end(() => registry.stop()),
    kill: () => end(() => registry.kill()),
    async hang() {
      hangs = true
      await registry.hang()
    },
    async resume() {
      hangs = false
      await registry.resume()
    },
  }
  return {
    ...registry,
    ...changed,
    async mend() {
      if (hangs) await registry.resume()
      if (!isUp) await registry.start()
      hangs = false
      isUp = true
    },
  } as Mendable
}
