/** @module A loop that is compiled for one contestant alone: a shared one would see all of them, and inline none. */

import type { Contestant } from './rounds.js'

const SOURCE = `let op = 0
return () => {
  let sum = 0
  for (let end = op + ops; op < end; op++) sum += choose(op)
  return sum
}`

/** @param choose called `ops` times in each run, with numbers that go on from run to run; its answers are added up */
export function ownLoop(name: string, ops: number, choose: (op: number) => number): Contestant {
  return { name, ops, run: new Function('choose', 'ops', SOURCE)(choose, ops) }
}
