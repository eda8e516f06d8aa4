/** Ribbon's ServerListSubsetFilter told backwards: who may stay, who must go, how many may come from where. */

export interface SubsetTerms {
  size: number
  /** The least number that leaves. */
  least: number
  failureThreshold: number
  connectionThreshold: number
}

export interface Load {
  failures: number
  active: number
}

export interface Expected {
  /** Stay for certain. */
  staying: string[]
  /** Left, of their own fault or by force. */
  leaving: string[]
  forced: number
  /** Newcomers are drawn from these … */
  newcomers: string[]
  /** … so many of them. */
  missing: number
}

export function expectedSubset(
  current: string[],
  pool: string[],
  loads: Map<string, Load>,
  terms: SubsetTerms,
): Expected {
  const isBad = (id: string) => {
    const { failures, active } = loads.get(id) as Load
    return failures > terms.failureThreshold || active > terms.connectionThreshold
  }
  const present = current.filter((id) => pool.includes(id))
  const bad = present.filter(isBad)
  const good = present.filter((id) => !isBad(id))
  const gone = current.length - present.length
  const tooMany = good.length - terms.size
  const forced = Math.min(good.length, tooMany > 0 ? tooMany : Math.max(0, terms.least - bad.length - gone))
  const ranked = good
    .map((id, place) => ({ id, place, ...(loads.get(id) as Load) }))
    .sort((a, b) => b.failures - a.failures || b.active - a.active || a.place - b.place)
    .map(({ id }) => id)
  const thrown = ranked.slice(0, forced)
  const staying = good.filter((id) => !thrown.includes(id))
  const missing = terms.size - staying.length
  const unburdened = pool.filter((id) => !staying.includes(id) && !bad.includes(id) && !thrown.includes(id))
  const newcomers = missing > unburdened.length ? pool.filter((id) => !staying.includes(id)) : unburdened
  return {
    staying,
    leaving: [...current.filter((id) => !pool.includes(id)), ...bad, ...thrown],
    forced,
    newcomers,
    missing: Math.max(0, Math.min(missing, newcomers.length)),
  }
}
