/** @module Work on many things, a few at a time. */

/**
 * Runs `work` for each item, in their order, at most `limit` at a time; takes up no more items when `isOver`. `work`
 * never rejects.
 */
export async function pooled<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
  isOver: () => boolean,
): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < items.length && !isOver()) await work(items[next++] as T)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
}
