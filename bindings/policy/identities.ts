/** @module Who the candidates of a list are, handed to the core for a policy that goes by that. */

import type { Pointer } from '../core/exports.js'
import { mostUtf8, writeUtf8 } from '../core/utf8.js'
import type { CandidateList } from '../service/candidates.js'

/** Orders instance ids. */
export type IdOrder = (a: string, b: string) => number

export const byText: IdOrder = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** As people number things: `shard-2` comes before `shard-10`. Equal numbers (`2`, `02`) by their text. */
export const byNumber: IdOrder = (a, b) => {
  const [as, bs] = [partsOf(a), partsOf(b)]
  for (let i = 0; i < as.length && i < bs.length; i++) {
    const [x, y] = [as[i] as string, bs[i] as string]
    // Parts alternate, text first: with an odd index both are digits.
    const order = i % 2 === 1 ? byDigits(x, y) : byText(x, y)
    if (order !== 0) return order
  }
  return as.length - bs.length || byText(a, b)
}

const partsOf = (id: string) => id.split(/(\d+)/)

/** Of any length, beyond what a number holds. */
function byDigits(a: string, b: string): number {
  const [x, y] = [a.replace(/^0+(?=.)/, ''), b.replace(/^0+(?=.)/, '')]
  return x.length - y.length || byText(x, y)
}

const aligned = (at: number) => (at + 7) & ~7

/** Lends `build` the identities in this order, as assembly/identities.ts draws them. */
export function withIdentities(list: CandidateList, order: IdOrder, build: (identities: Pointer) => void): void {
  const { core } = list.tree
  const ids = list.instances.map(({ instanceId }) => instanceId)
  const places = ids.map((_, i) => i).sort((a, b) => order(ids[a] as string, ids[b] as string))
  const identities = core.exports.allocate(places.length * 8 + ids.reduce((sum, id) => sum + aligned(mostUtf8(id)), 0))
  const { i32, u8 } = core
  let end = identities + places.length * 8
  places.forEach((index, place) => {
    const next = writeUtf8(ids[index] as string, u8, end)
    i32[(identities >>> 2) + place * 2] = index
    i32[(identities >>> 2) + place * 2 + 1] = next - end
    end = aligned(next)
  })
  build(identities)
  core.exports.release(identities)
}
