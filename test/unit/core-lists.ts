/** Rows and lists in a core, made without a service. */

import { LIST_ROWS } from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { toInstance } from '../../bindings/instance.js'
import { Members } from '../../bindings/service/members.js'

/** One row for each weight, in a seeded block. */
export function membersOf(core: Core, weights: readonly number[], seed = 7): Members {
  const members = new Members(core)
  members.adopt(weights.map((_, i) => toInstance({ host: 'h', port: i % 65536, instanceId: `i${i}` }, 'test', 'test')))
  for (const [row, own] of weights.entries()) members.setWeight(row, own)
  core.exports.seedBlock(members.block, 1, seed)
  return members
}

/** A list of these rows, their weights attached in this order. */
export function listOf(core: Core, block: Pointer, rows: readonly number[], order: number): Pointer {
  const list = core.exports.createList(rows.length)
  const at = (list + LIST_ROWS) >>> 2
  for (const [i, row] of rows.entries()) core.i32[at + i] = row
  core.exports.weighList(block, list, order)
  return list
}
