/** @module The nearest of some names, for suggestions. */

/** The nearest name, if a slip or two explain the difference. */
export function nearest(given: string, names: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const name of names) {
    const slips = slipsBetween(given.toLowerCase(), name.toLowerCase())
    if (slips === undefined || slips >= least) continue
    least = slips
    best = name
  }
  return best
}

/** How many slips lie between two words: one, in long words one for each four letters; undefined: they are others. */
export function slipsBetween(a: string, b: string): number | undefined {
  const most = Math.max(1, Math.floor(Math.max(a.length, b.length) / 4))
  const distance = Math.abs(a.length - b.length) > most ? Number.POSITIVE_INFINITY : editDistance(a, b)
  return distance <= most ? distance : undefined
}

/** Letters that are missing, too many, wrong, or in the place of their neighbour (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let least = Math.min(substituted, (above[j] as number) + 1, (row[j - 1] as number) + 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwapped) least = Math.min(least, (before[j - 2] as number) + 1)
      row.push(least)
    }
    before = above
    above = row
  }
  return above[b.length] as number
}
