/** Nothing of rows.ts is left out: each name has its test, or a row in README.md that says why it has none. */

import { readdir, readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { CLASSES, ISSUES } from './rows.js'

const here = new URL('.', import.meta.url)

/** The beginnings of all `describe` or `it` calls in a source, up to their functions: titles and tables. */
function titles(source: string, call: 'describe' | 'it'): string[] {
  return [...source.matchAll(new RegExp(`^\\s*${call}(?:\\.each)?\\([^]*?(?:=> \\{|function)`, 'gm'))].map(
    ([text]) => text,
  )
}

/** The rows of the table under a heading, without its head; each row its cells. */
function table(page: string, heading: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const sources = new Map<string, string>()
let page = ''

beforeAll(async () => {
  for (const name of await readdir(here)) {
    if (name.endsWith('.test.ts') && name !== 'complete.test.ts')
      sources.set(name, await readFile(new URL(name, here), 'utf8'))
  }
  page = await readFile(new URL('README.md', here), 'utf8')
})

const filesWith = (call: 'describe' | 'it', name: string) =>
  [...sources].flatMap(([file, source]) => (titles(source, call).some((title) => mentions(title, name)) ? [file] : []))

function mentions(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w])${name}(?![\\w])`).test(text)
}

describe('the tests', () => {
  it.each(CLASSES)('%s has a describe, or a reason', (name) => {
    const files = filesWith('describe', name)
    const reasons = table(page, 'Without a counterpart').filter(([what = '']) => what === `\`${name}\``)
    expect(files.length + reasons.length).toBe(1)
    if (files.length > 0) expect(table(page, 'Where')).toContainEqual([`\`${name}\``, files[0]])
  })

  it.each(ISSUES.flat())('%s has an it in issues.test.ts', (name) => {
    // Several tests of one issue have their names from a constant.
    const source = sources.get('issues.test.ts') ?? ''
    const constants = [...source.matchAll(/^ {2}const all = '([^']+)'/gm)].map(([, text = '']) => text)
    expect([...titles(source, 'it'), ...constants].some((title) => mentions(title, name))).toBe(true)
    expect(
      table(page, 'Where').filter(([what = '', file]) => mentions(what, name) && file === 'issues.test.ts'),
    ).toHaveLength(1)
  })

  it('name each class once', () => {
    expect(new Set([...CLASSES, ...ISSUES.flat()]).size).toBe(CLASSES.length + ISSUES.flat().length)
  })

  it('have no describe of a class that is not in the list', () => {
    const named = [...sources.values()].flatMap((source) =>
      titles(source, 'describe').flatMap((title) => title.match(/(?<=')[A-Z]\w+Tests?(?=')/g) ?? []),
    )
    expect(named.filter((name) => !CLASSES.includes(name))).toEqual([])
  })

  it('have an it in every describe', () => {
    for (const [file, source] of sources) {
      const parts = source.split(/^describe/m).slice(1)
      for (const part of parts) expect(titles(part, 'it').length, `${file}: ${part.slice(0, 80)}`).toBeGreaterThan(0)
    }
  })

  it('README.md names only files that are there', () => {
    for (const [, file = ''] of table(page, 'Where')) expect([...sources.keys()]).toContain(file)
  })
})
