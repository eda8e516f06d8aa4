/** @module At most one refresh of a list at a time, without making one request wait on another request's promise. */

import { isWorkers } from './host.js'
import { sleep } from './wait.js'

/** What is to be done once at a time; never rejects or throws. Undefined: it was done at once. */
export type Work = () => Promise<void> | undefined

/** Runs `work` unless it is under way already; resolves when a run that covers the caller has ended. */
export interface SingleFlight {
  readonly busy: boolean
  run(work: Work): Promise<void>
  /** Lets everybody go who only waits for another's run. */
  release(): void
}

/** On Workers by claims, elsewhere by sharing the promise. */
export function singleFlight(clock: () => number): SingleFlight {
  return isWorkers() ? claimed(clock) : shared()
}

export function shared(): SingleFlight {
  let flight: Promise<void> | undefined
  return {
    get busy() {
      return flight !== undefined
    },
    run(work) {
      if (flight !== undefined) return flight
      // Before the work begins, which may itself come back here.
      let end = () => {}
      const own = new Promise<void>((resolve) => {
        end = resolve
      })
      flight = own
      const done = () => {
        flight = undefined
        end()
      }
      const running = work()
      if (running === undefined) done()
      else void running.then(done, done)
      return own
    },
    release() {},
  }
}

/** Everybody runs his own. */
export function unshared(): SingleFlight {
  return {
    busy: false,
    run: (work) => work() ?? Promise.resolve(),
    release() {},
  }
}

/** How long a claim keeps others off. Its owner may have been cancelled, which nobody is told. */
const CLAIM_MS = 1_000
const FIRST_LOOK_MS = 2
const LAST_LOOK_MS = 50

/**
 * A claim with a time limit. Others look from time to time, by timers of their own, whether the claim was given
 * back; if its time is up, the next to look takes it over.
 */
export function claimed(clock: () => number, pause: (ms: number) => Promise<void> = sleep): SingleFlight {
  let claim = 0
  let claimedAt = Number.NEGATIVE_INFINITY
  let held = false
  const isHeld = () => {
    const heldMs = clock() - claimedAt
    return held && heldMs >= 0 && heldMs < CLAIM_MS
  }
  return {
    get busy() {
      return isHeld()
    },
    async run(work) {
      for (let look = FIRST_LOOK_MS; isHeld(); look = Math.min(look * 2, LAST_LOOK_MS)) {
        await pause(look)
        if (!held) return
      }
      const own = ++claim
      held = true
      claimedAt = clock()
      try {
        const running = work()
        if (running !== undefined) await running
      } finally {
        if (own === claim) held = false
      }
    },
    release() {
      held = false
    },
  }
}
