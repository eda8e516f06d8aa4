/** @module Why the program stops: one line for a person, one exit status for a shell. */

import { EvenkeelError } from 'evenkeel'

/** 1: the run went wrong. 2: what was asked for makes no sense. */
export type ExitStatus = 1 | 2

export class Problem extends Error {
  readonly exitStatus: ExitStatus

  constructor(message: string, exitStatus: ExitStatus) {
    super(message)
    this.exitStatus = exitStatus
  }
}

export function exitStatusOf(error: unknown): ExitStatus {
  if (error instanceof Problem) return error.exitStatus
  return error instanceof EvenkeelError && error.code === 'EVENKEEL_CONFIG' ? 2 : 1
}

/** What an error says, with what only its code or its cause tell. */
export function lineOf(error: unknown): string {
  if (!(error instanceof Error)) return onOneLine(String(error))
  const { message, cause } = error
  if (error instanceof EvenkeelError) return onOneLine(`${message} (${error.code})`)
  // Node's fetch says "fetch failed" and leaves the reason to its cause; that of a host with several addresses
  // has no message either.
  const reason = cause instanceof Error ? cause.message || (cause as NodeJS.ErrnoException).code : undefined
  return onOneLine(reason ? `${message}: ${reason}` : message)
}

function onOneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').trim()
}
