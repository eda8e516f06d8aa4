/** @module Several gates before a list as one. */

import type { WaitOptions } from '../types/request.js'
import type { Gate } from './list-source.js'

/** Open when all are. Undefined: there is none. */
export function gateOf(gates: readonly Gate[]): Gate | undefined {
  if (gates.length < 2) return gates[0]
  return {
    get open() {
      return gates.every((gate) => gate.open)
    },
    begin() {
      for (const gate of gates) gate.begin()
    },
    async passed(options: WaitOptions) {
      await Promise.all(gates.map((gate) => gate.passed(options)))
    },
  }
}
