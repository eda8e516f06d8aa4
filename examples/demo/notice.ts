/** @module The line under a table: what the slow and the failing instance got, and what that says of the policy. */

import { percent } from './numbers.js'
import type { Row } from './rows.js'

type Portion = 'less' | 'fair' | 'more'

export function noticeOf(rows: readonly Row[]): string {
  const slow = portionOf(rows, 'slow')
  const failing = portionOf(rows, 'fast-503')
  return (
    `Notice: slow ${percent(slow.share)}, fast-503 ${percent(failing.share)} ` +
    `(fair: ${percent(slow.fair)}): ${meaningOf(slow.portion, failing.portion)}.`
  )
}

function portionOf(rows: readonly Row[], instanceId: string): { share: number; fair: number; portion: Portion } {
  const row = rows.find((row) => row.instanceId === instanceId)
  const share = row?.share ?? Number.NaN
  const fair = (row?.weight ?? 0) / rows.reduce((sum, { weight }) => sum + weight, 0)
  // A random draw of some hundred requests stays well within a quarter of its share.
  return { share, fair, portion: share < 0.75 * fair ? 'less' : share > 1.25 * fair ? 'more' : 'fair' }
}

function meaningOf(slow: Portion, failing: Portion): string {
  if (slow === 'fair' && failing === 'fair') return 'speed and errors ignored'
  if (slow === 'less' && failing === 'more') return 'failing fast looks idle'
  if (slow === 'less' && failing === 'less') return 'both are avoided'
  return `slow has ${slow === 'fair' ? 'its share' : slow}, fast-503 ${failing === 'fair' ? 'its share' : failing}`
}
