/** @module The chain's first stage of a service with health checks: who is alive. */

import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { Stage } from '../supplier/stage.js'
import type { HealthChecks } from './health-checks.js'

export const HEALTH_CHECK = 'health-check'

/**
 * Worked out anew when somebody's life has changed: whoever changes it drops the candidates.
 * @param keepsDown the policy goes by who is down by itself, from a whole list in which they are marked
 */
export function healthStage(checks: HealthChecks, allUnhealthy: 'none' | 'all', keepsDown: () => boolean): Stage {
  return {
    name: HEALTH_CHECK,
    memo: 'fixed',
    foreign: false,
    key: () => undefined,
    cut(list): Cut {
      const alive = checks.aliveOf(list.instances)
      if (keepsDown()) return markDown(list, alive, allUnhealthy)
      if (alive.length === 0 && list.length > 0) {
        const reason = 'no instance passed its check'
        if (allUnhealthy === 'all') return { list, fellBack: true, reason }
        return { list: list.tree.pickOut(list, []), fellBack: false, reason }
      }
      if (isWhole(alive, list)) return { list, fellBack: false, reason: checks.unasked }
      const reason = `${alive.length} of ${list.length} passed their check`
      return { list: list.tree.pickOut(list, alive), fellBack: false, reason }
    },
  }
}

function isWhole(indexes: readonly number[], list: CandidateList): boolean {
  return indexes.length === list.length && indexes.every((index, i) => index === i)
}

function markDown(list: CandidateList, alive: readonly number[], allUnhealthy: 'none' | 'all'): Cut {
  const fellBack = alive.length === 0 && list.length > 0 && allUnhealthy === 'all'
  const up = new Set(alive)
  list.instances.forEach((_, i) => {
    list.tree.members.setDown(list.rowAt(i), !fellBack && !up.has(i))
  })
  const reason = `${alive.length} of ${list.length} passed their check, the others are marked`
  return { list, fellBack, reason: isWhole(alive, list) ? undefined : reason }
}
