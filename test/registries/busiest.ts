/** @module How busy the busiest time was. */

/** The most that arrive within a time of that length, whenever it begins. @param arrivals in order, in ms */
export function busiest(arrivals: readonly number[], ms: number): number {
  let most = 0
  for (let first = 0, last = 0; last < arrivals.length; last++) {
    while ((arrivals[last] as number) - (arrivals[first] as number) >= ms) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
