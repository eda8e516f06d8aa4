/** @module Where the servers' programs are, and what to do where there is none. */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

interface Tool {
  readonly name: string
  /** Names a program elsewhere. */
  readonly variable?: string
  /** Where it is, but not on the PATH of everybody. */
  readonly folders: readonly string[]
  /** How to get it. */
  readonly advice: string
}

const TOOLS = {
  etcd: { name: 'etcd', folders: [], advice: 'install etcd-server' },
  dnsmasq: {
    name: 'dnsmasq',
    folders: ['/usr/sbin', '/usr/local/sbin', '/sbin'],
    advice: 'install dnsmasq-base',
  },
  rnacos: {
    name: 'rnacos',
    variable: 'RNACOS',
    folders: [join(homedir(), '.cargo', 'bin')],
    advice: 'cargo install rnacos --locked --version 0.8.8',
  },
} satisfies Record<string, Tool>

export type ToolName = keyof typeof TOOLS

/** @throws in words for whoever runs this, if it is not there */
export function programOf(tool: ToolName): string {
  const { name, variable, folders, advice }: Tool = TOOLS[tool]
  const named = variable === undefined ? undefined : process.env[variable]
  if (named) {
    if (existsSync(named)) return named
    throw new Error(`there is no ${named}, which ${variable} names`)
  }
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const places = [...onPath, ...folders].map((folder) => join(folder, name))
  const found = places.find((place) => existsSync(place))
  if (found !== undefined) return found
  const where = ['on the PATH', ...folders.map((folder) => `in ${folder}`)].join(' or ')
  throw new Error(`there is no ${name} ${where}: ${advice}${variable ? `, or name it in ${variable}` : ''}`)
}
