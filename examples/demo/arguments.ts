/** @module The command line, read and checked. */

import { parseArgs } from 'node:util'
import { Problem } from './problem.js'

/** A run against services of the user's own. */
export interface OwnServices {
  readonly configFile: string
  readonly service: string
  readonly requests: number
  readonly concurrency: number
  readonly path: string
  /** Undefined: the service's own, from the config file. */
  readonly policy: string | undefined
  readonly headers: Headers
  readonly json: boolean
}

export type Command = 'compare-policies' | 'help' | OwnServices

const OPTIONS = {
  config: { type: 'string' },
  service: { type: 'string' },
  requests: { type: 'string', default: '100' },
  concurrency: { type: 'string', default: '10' },
  path: { type: 'string', default: '/' },
  policy: { type: 'string' },
  header: { type: 'string', multiple: true, short: 'H', default: [] as string[] },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** @throws Problem with status 2 */
export function readArguments(given: string[]): Command {
  if (given.length === 0) return 'compare-policies'
  const values = parsed(given)
  if (values.help) return 'help'
  return {
    configFile: required('--config', values.config),
    service: required('--service', values.service),
    requests: count('--requests', values.requests),
    concurrency: count('--concurrency', values.concurrency),
    path: pathOf(values.path),
    policy: values.policy,
    headers: headersOf(values.header),
    json: values.json,
  }
}

function parsed(given: string[]) {
  try {
    return parseArgs({ args: given, options: OPTIONS, strict: true, allowPositionals: false }).values
  } catch (error) {
    const { message } = error as Error
    const withoutValue = /'(?:-\w, )?(--\w+).*' argument (?:missing|is ambiguous)/.exec(message)?.[1]
    if (withoutValue !== undefined) throw wrong(`${withoutValue} needs a value`)
    // The sentences after the first explain how an argument can begin with a dash: nothing here does.
    throw wrong(message.split(/\.?\s*\n|\. /)[0] as string)
  }
}

function required(option: string, value: string | undefined): string {
  if (value !== undefined && value !== '') return value
  throw wrong(`${option} is missing (a run against your own services needs --config and --service)`)
}

function count(option: string, text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)) return value
  throw wrong(`${option} must be a whole number of 1 or more, not "${text}"`)
}

function pathOf(path: string): string {
  if (path.startsWith('/')) return path
  throw wrong(`--path must begin with "/", not "${path}"`)
}

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    try {
      headers.append(line.slice(0, Math.max(colon, 0)).trim(), line.slice(colon + 1).trim())
    } catch {
      throw wrong(`--header must look like "name: value", not "${line}"`)
    }
  }
  return headers
}

function wrong(message: string): Problem {
  return new Problem(`${message}; --help explains`, 2)
}
