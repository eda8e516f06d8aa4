/** docs/options.md against the code: every option and every name stands in it, with the default that holds. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LATER_POLICIES } from '../../bindings/config/names.js'
import { createLoadBalancer } from '../../bindings/index.js'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = read('docs/options.md')
const checks = read('bindings/config/option-checks.ts')
const names = read('bindings/config/names.ts')

/** The names and defaults in the rows of a section, up to the next heading. */
function rowsUnder(heading: string): Map<string, string | undefined> {
  const start = page.indexOf(`\n${heading}\n`)
  expect(start, heading).toBeGreaterThan(0)
  const section = page.slice(start + heading.length + 2).split(/\n#+ /)[0] as string
  const rows = section.matchAll(/^\| `(\w+)` \| [^|]* \| (?:`([^`]*)`)?/gm)
  return new Map(Array.from(rows, ([, name, value]) => [name as string, value]))
}

/** The keys of an object literal in a source text. */
function keysIn(source: string, table: string): string[] {
  const body = new RegExp(`^const ${table}\\b[^\\n]* [{[]\\n(.*?)^[}\\]]`, 'ms').exec(source)?.[1] ?? ''
  const keys = Array.from(body.matchAll(/^ {2}'?([\w-]+)'?(?::|,)/gm), ([, key]) => key as string)
  expect(keys.length, table).toBeGreaterThan(1)
  return keys
}

describe.each([
  ['BALANCER', '## createLoadBalancer(options)'],
  ['SERVICE', '## A service'],
  ['POLLING', '### polling'],
  ['HEALTH_CHECK', '### healthCheck'],
  ['PRIME', '### prime'],
  ['RETRY', '### retry'],
  ['METRICS', '### metrics'],
  ['SERVER_STATS', '### serverStats'],
  ['OVERRIDES', '## lb.with(overrides)'],
])('%s', (table, heading) => {
  const rows = rowsUnder(heading)

  it.each(keysIn(checks, table))('%s has a row', (option) => {
    expect([...rows.keys()]).toContain(option)
  })

  it('has no rows of options that there are not', () => {
    const known = [...keysIn(checks, table), ...(table === 'RETRY' ? ['minMs', 'maxMs', 'jitter'] : [])]
    expect([...rows.keys()].filter((row) => !known.includes(row))).toEqual([])
  })
})

describe('a name', () => {
  it.each([...keysIn(names, 'POLICIES'), ...keysIn(names, 'SUPPLIERS')])('%s has a heading and a JSON form', (name) => {
    const [, section = ''] = page.split(new RegExp(`\\n### \\w+: \`${name}\`\\n`))
    expect(section.trimStart()).toMatch(new RegExp(`^\`(\\{ "type": )?"${name}"`))
  })

  it.each(keysIn(names, 'PINGS'))('of a ping, %s, has a row', (name) => {
    expect(page).toContain(`\n| \`${name}\` | \`${name}Ping(`)
  })

  it.each(keysIn(names, 'RETRY_HANDLERS'))('of a retry handler, %s, is told', (name) => {
    expect(page).toContain(`\`'${name}'\``)
  })

  it.each(LATER_POLICIES)('%s is told to be for later', (name) => {
    expect(page).toContain(`\`${name}\``)
  })
})

describe('a default', () => {
  const text = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value))
  const lb = createLoadBalancer({
    discovery: () => [],
    services: {
      plain: {},
      polled: { polling: {} },
      all: { healthCheck: {}, prime: {}, retry: { backoff: {} }, serverStats: true },
    },
  })
  const effective = (serviceId: string, option: string): object =>
    lb.service(serviceId).options()[option]?.value as object
  const backoff = (effective('all', 'retry') as { backoff: object }).backoff

  it.each<[string, [string, unknown][]]>([
    ['## A service', Object.entries(lb.service('plain').options()).map(([name, { value }]) => [name, value])],
    ['### cache', Object.entries(effective('plain', 'cache'))],
    ['### polling', Object.entries(effective('polled', 'polling'))],
    ['### prime', Object.entries(effective('all', 'prime'))],
    ['### healthCheck', Object.entries(effective('all', 'healthCheck'))],
    ['### serverStats', Object.entries(effective('all', 'serverStats'))],
    ['### retry', [...Object.entries(effective('plain', 'retry')), ...Object.entries(backoff)]],
  ])('%s is the one that holds', (heading, values) => {
    const rows = rowsUnder(heading)
    const told = values.filter(([name, value]) => typeof value !== 'object' && rows.get(name) !== undefined)
    expect(told.length).toBeGreaterThan(0)
    for (const [name, value] of told) {
      if (rows.has(rows.get(name) as string)) continue // The default of another option.
      expect(rows.get(name), name).toBe(text(value))
    }
  })
})
