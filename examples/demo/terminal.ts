/** @module What stdout can show. */

import { styleText } from 'node:util'

/** https://no-color.org: set to anything but nothing. */
export const inColour = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'

/** Columns of the terminal; undefined: a file or a pipe, where lines may be of any length. */
export const columns = process.stdout.isTTY ? process.stdout.columns || undefined : undefined

export function bold(text: string): string {
  return inColour ? styleText('bold', text) : text
}

export function red(text: string): string {
  return inColour ? styleText('red', text) : text
}

export function print(text = ''): void {
  process.stdout.write(`${text}\n`)
}
