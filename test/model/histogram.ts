/** Model of assembly/histogram.ts: the buckets by arithmetic instead of by bits. */

const BUCKETS = 160

function bucketOf(ms: number): number {
  if (ms < 1 / 16) return 0
  const octave = Math.floor(Math.log2(ms))
  const low = 2 ** octave > ms ? octave - 1 : 2 ** (octave + 1) <= ms ? octave + 1 : octave
  return Math.min((low + 4) * 8 + Math.floor((ms / 2 ** low - 1) * 8), BUCKETS - 1)
}

function middleOf(bucket: number): number {
  const edge = (index: number) => 2 ** (Math.floor(index / 8) - 4) * (1 + (index % 8) / 8)
  return (edge(bucket) + edge(bucket + 1)) / 2
}

export class ModelHistogram {
  #counts = new Array<number>(BUCKETS).fill(0)

  record(ms: number): void {
    const bucket = bucketOf(ms)
    const count = (this.#counts[bucket] as number) + 1
    this.#counts[bucket] = count
    if (count === 65535) this.#counts = this.#counts.map((each) => Math.floor(each / 2))
  }

  quantile(q: number): number {
    const total = this.#counts.reduce((sum, count) => sum + count, 0)
    if (total === 0) return Number.NaN
    const wanted = Math.max(Math.ceil(q * total), 1)
    let seen = 0
    const bucket = this.#counts.findIndex((count) => {
      seen += count
      return seen >= wanted
    })
    return middleOf(bucket)
  }
}
