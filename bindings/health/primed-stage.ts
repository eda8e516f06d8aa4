/** @module The chain's stage of a service that primes its instances: who has answered once. */

import type { Cut } from '../service/memo.js'
import type { Stage } from '../supplier/stage.js'
import type { Priming } from './priming.js'

export const PRIMED = 'primed'

/**
 * Worked out anew when somebody is primed: whoever changes it drops the candidates. Who is in the list but marked as
 * down is nobody to fall back on.
 */
export function primedStage(priming: Priming): Stage {
  return {
    name: PRIMED,
    memo: 'fixed',
    foreign: false,
    key: () => undefined,
    cut(list): Cut {
      const ready = list.instances.flatMap((instance, i) => (priming.isReady(instance) ? [i] : []))
      if (ready.length === list.length) return { list, fellBack: false, reason: priming.unasked }
      // Rather an instance that is cold than none: a list that is wholly new would be an outage.
      if (ready.every((index) => list.isDown(index)))
        return { list, fellBack: true, reason: 'no instance is primed: all are offered' }
      const reason = `${ready.length} of ${list.length} are primed`
      return { list: list.tree.pickOut(list, ready), fellBack: false, reason }
    },
  }
}
