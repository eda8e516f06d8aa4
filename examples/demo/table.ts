/** @module Rows as a table for a terminal. */

import Table from 'cli-table3'
import { milliseconds, percent } from './numbers.js'
import type { Row } from './rows.js'
import { columns, inColour, red } from './terminal.js'

const HEAD = ['instance', 'zone', 'weight', 'picks', 'share', 'errors', 'p50 ms', 'p99 ms']
/** Two spaces and a line around each column, and the last line. */
const PADDING = 3

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.instanceId,
    row.zone ?? '–',
    String(row.weight),
    String(row.picks),
    percent(row.share),
    String(row.errors),
    milliseconds(row.p50Ms),
    milliseconds(row.p99Ms),
  ])
  const widths = HEAD.map((name, i) => Math.max(name.length, ...cells.map((line) => line[i]?.length ?? 0)))
  const table = new Table({
    head: HEAD,
    colWidths: [roomForId(widths)],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'right', 'right'],
    // Ids differ in their last letters more often than not, so a long one is broken rather than cut.
    wordWrap: true,
    wrapOnWordBoundary: false,
    style: { head: inColour ? ['bold'] : [], border: inColour ? ['grey'] : [], compact: true },
  })
  for (const line of cells) table.push(line.map((cell, i) => (HEAD[i] === 'errors' && cell !== '0' ? red(cell) : cell)))
  if (cells.length === 0) table.push([{ content: 'no instances', colSpan: HEAD.length, hAlign: 'left' }])
  return table.toString()
}

/** Width of the first column, its padding included: what the ids need, or what the others leave. */
function roomForId([widest = 0, ...others]: readonly number[]): number {
  const needed = widest + 2
  if (columns === undefined) return needed
  const taken = others.reduce((sum, width) => sum + width + PADDING, 2)
  return Math.min(needed, Math.max(columns - taken, 10))
}
