/** @module What the runner prints. */

import Table from 'cli-table3'
import type { Judgement } from './suite.js'

/** No lines between rows. */
const CHARS = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' }
const STYLE = { head: [], border: [] }

export function budgetTable(judgements: readonly Judgement[]): string {
  const head = ['', 'budget', 'measured', '']
  const table = new Table({ head, colWidths: [58, 18, 64, 9], wordWrap: true, chars: CHARS, style: STYLE })
  for (const { what, budget, measured, met } of judgements) {
    if (budget !== undefined) table.push([what, budget, measured, met ? 'met' : 'NOT met'])
  }
  return table.toString()
}

export function besideTable(judgements: readonly Judgement[]): string {
  const head = ['beside the budgets', 'measured']
  const table = new Table({ head, colWidths: [58, 93], wordWrap: true, chars: CHARS, style: STYLE })
  for (const { what, budget, measured } of judgements) if (budget === undefined) table.push([what, measured])
  return table.toString()
}
