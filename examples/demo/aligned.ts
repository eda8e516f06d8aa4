/** @module Text in columns without lines between them. */

import Table from 'cli-table3'
import { columns } from './terminal.js'

type Alignment = 'left' | 'right'

/** Columns without lines between them; on a terminal the last one is wrapped to fit. */
export function aligned(lines: readonly (readonly string[])[], colAligns: Alignment[] = []): string {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)) + 2)
  const last = widths.pop() ?? 0
  const left = widths.reduce((sum, width) => sum + width, 0)
  const table = new Table({
    chars: NO_LINES,
    colAligns,
    colWidths: [...widths, columns === undefined ? last : Math.max(Math.min(last, columns - left), 20)],
    wordWrap: true,
    style: { 'padding-left': 2, 'padding-right': 0, head: [], border: [], compact: true },
  })
  for (const line of lines) table.push([...line])
  return table.toString().replace(/ +$/gm, '')
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
}
