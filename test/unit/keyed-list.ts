/** A list in one core that is picked from by keys, its plans laid out as the bindings do. */

import { LIST_PLAN, LIST_ROWS, ORDER_WEIGHTED } from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { toInstance } from '../../bindings/instance.js'
import { byNumber, byText, withIdentities } from '../../bindings/policy/identities.js'
import type { CandidateList } from '../../bindings/service/candidates.js'
import { Members } from '../../bindings/service/members.js'

export type Plan = 'ring' | 'sizedRing' | 'maglev' | 'rendezvous' | 'jump'

export class KeyedList {
  readonly members: Members
  readonly handle: Pointer
  readonly ids: readonly string[]
  readonly #core: Core

  constructor(core: Core, ids: readonly string[], weights?: readonly number[]) {
    this.#core = core
    this.ids = ids
    this.members = new Members(core)
    this.members.adopt(
      ids.map((instanceId, i) => toInstance({ host: 'h', port: i % 65536, instanceId }, 'test', 'test')),
    )
    this.handle = core.exports.createList(ids.length)
    for (let i = 0; i < ids.length; i++) core.i32[((this.handle + LIST_ROWS) >>> 2) + i] = i
    core.exports.seedBlock(this.members.block, 1, 7)
    for (const [row, weight] of weights?.entries() ?? []) this.members.setWeight(row, weight)
    if (weights !== undefined) core.exports.weighList(this.members.block, this.handle, ORDER_WEIGHTED)
  }

  build(plan: Plan, first = 0, second = 0): this {
    const { exports } = this.#core
    const { members, handle } = this
    const list = {
      instances: members.instances,
      handle,
      tree: { core: this.#core, members },
    } as unknown as CandidateList
    withIdentities(list, plan === 'jump' ? byNumber : byText, (identities) => {
      if (plan === 'ring') exports.buildRing(members.block, handle, identities, first, second || 1_048_576)
      if (plan === 'sizedRing') exports.buildSizedRing(members.block, handle, identities, first, second)
      if (plan === 'maglev') exports.buildMaglev(members.block, handle, identities, first)
      if (plan === 'rendezvous') exports.buildRendezvous(members.block, handle, identities)
      if (plan === 'jump') exports.buildJump(members.block, handle, identities)
    })
    return this
  }

  /** The index that is picked for the key; `loadFactor` in thousandths. */
  pick(plan: Plan, key: string | undefined, loadFactor = 0): number {
    const { exports } = this.#core
    const { block } = this.members
    const keyLength = this.#core.key.put(key)
    if (plan === 'maglev') return exports.pickMaglev(block, this.handle, keyLength, loadFactor)
    if (plan === 'rendezvous') return exports.pickRendezvous(block, this.handle, keyLength, loadFactor)
    if (plan === 'jump') return exports.pickJump(block, this.handle, keyLength)
    return exports.pickRing(block, this.handle, keyLength, loadFactor)
  }

  pickId(plan: Plan, key: string | undefined, loadFactor = 0): string | undefined {
    return this.ids[this.pick(plan, key, loadFactor)]
  }

  hold(index: number): void {
    this.#core.exports.acquireRow(this.members.block, index)
  }

  /** The ring's points, in order. */
  ring(): { hash: bigint; id: string }[] {
    const { i32 } = this.#core
    const plan = this.#plan()
    const size = i32[(plan + 4) >>> 2] as number
    const bits = 64 - (i32[(plan + 8) >>> 2] as number)
    const words = new Uint32Array(i32.buffer)
    const owners = plan + 16 + 8 * size + 4 * (2 ** bits + 1)
    return Array.from({ length: size }, (_, i) => {
      const at = (plan + 16 + 8 * i) >>> 2
      return {
        hash: (BigInt(words[at + 1] as number) << 32n) | BigInt(words[at] as number),
        id: this.ids[i32[(owners >>> 2) + i] as number] as string,
      }
    })
  }

  /** Maglev's table: an index each. */
  slots(): Int32Array {
    const { i32 } = this.#core
    const plan = this.#plan()
    const size = i32[(plan + 4) >>> 2] as number
    return i32.slice((plan + 8) >>> 2, ((plan + 8) >>> 2) + size)
  }

  free(): void {
    this.#core.exports.freeList(this.handle)
    this.members.free()
  }

  #plan(): Pointer {
    return this.#core.i32[(this.handle + LIST_PLAN) >>> 2] as number
  }
}
