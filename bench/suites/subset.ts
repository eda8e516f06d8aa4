/** @module SCLB's subset of 10 000 instances, shuffled by java.util.Random: the core's 64-bit integers against BigInt. */

import { LIST_ROWS } from '../../assembly/layout.js'
import { subset as subsetOf } from '../../test/model/java.js'
import { middle, ratio } from '../harness/median.js'
import { createRawService, instantiateCore } from '../harness/raw-core.js'
import { inRounds } from '../harness/rounds.js'
import { caseOf, type Suite } from '../harness/suite.js'
import { times, us } from '../harness/text.js'

const INSTANCES = 10_000
const SIZE = 100
const OPS = 20
const hashAt = (op: number) => Math.imul(op + 1, 0x9e3779b1)

export const subset: Suite = {
  cases: [{ name: '10 000' }],
  effort: { rounds: 30, calls: 1, warmUpMs: 150 },
  async measure(_, effort) {
    const core = instantiateCore()
    const { list } = createRawService(core, INSTANCES)
    const indexes = Array.from({ length: INSTANCES }, (_, i) => i)
    const byCore = (hash: number) => {
      const cut = core.cutSubset(list, hash, SIZE)
      const first = new Int32Array(core.memory.buffer)[(cut + LIST_ROWS) >>> 2] as number
      core.freeList(cut)
      return first
    }
    const byBigInt = (hash: number) => subsetOf(indexes, hash, SIZE)[0] as number
    if (byCore(hashAt(0)) !== byBigInt(hashAt(0))) throw new Error('the two subsets differ')
    const contestants = [
      {
        name: 'core',
        ops: OPS,
        run() {
          let sum = 0
          for (let op = 0; op < OPS; op++) sum += byCore(hashAt(op))
          return sum
        },
      },
      { name: 'BigInt', ops: 1, run: () => byBigInt(hashAt(1)) },
    ]
    return { timings: await inRounds(contestants, effort) }
  },
  judge(found) {
    const { timings } = caseOf(found, '10 000')
    const value = ratio(timings, 'BigInt', 'core')
    return [
      {
        what: 'subset of 10 000, against BigInt',
        budget: '≥ 20 × faster',
        measured: `${times(value)} (${us(middle(timings, 'core'))} against ${us(middle(timings, 'BigInt'))})`,
        met: value >= 20,
      },
    ]
  },
}
