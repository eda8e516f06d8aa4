/** java.util.HashSet of Ribbon's servers, whose order its subset filter goes by. */

/** Server.hashCode, of which HashMap.hash folds the upper half into the lower. */
function hashOf(id: string): number {
  let hash = 0
  for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) | 0
  hash = (31 * 7 + hash) | 0
  return hash ^ (hash >>> 16)
}

export class JavaHashSet {
  #buckets: string[][]
  #size = 0

  /** As of a collection, HashSet(Collection): with room for it. */
  constructor(ids: Iterable<string>) {
    const all = [...ids]
    const least = Math.max(Math.trunc(all.length / 0.75) + 1, 16)
    this.#buckets = emptied(2 ** Math.ceil(Math.log2(least)))
    for (const id of all) this.add(id)
  }

  add(id: string): void {
    const bucket = this.#bucketOf(id)
    if (bucket.includes(id)) return
    bucket.push(id)
    if (++this.#size <= 0.75 * this.#buckets.length) return
    const all = [...this]
    this.#buckets = emptied(2 * this.#buckets.length)
    for (const each of all) this.#bucketOf(each).push(each)
  }

  delete(id: string): void {
    const bucket = this.#bucketOf(id)
    const at = bucket.indexOf(id)
    if (at < 0) return
    bucket.splice(at, 1)
    this.#size--
  }

  *[Symbol.iterator](): Generator<string> {
    for (const bucket of this.#buckets) yield* bucket
  }

  #bucketOf(id: string): string[] {
    return this.#buckets[hashOf(id) & (this.#buckets.length - 1)] as string[]
  }
}

const emptied = (length: number): string[][] => Array.from({ length }, () => [])
