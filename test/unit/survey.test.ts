/** What a survey of Ribbon's issues has of rules and retries: each has a test that names it. */

import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

/** Row of the survey or project, as the title names the issue, file. */
const SURVEY: readonly (readonly [row: string, named: string, file: string])[] = [
  ['1', 'ribbon 233', 'unit/ribbon-pains.test.ts'],
  ['2', 'ribbon 338', 'unit/ribbon-pains.test.ts'],
  ['4', 'ribbon PR 365', 'unit/ribbon-pains.test.ts'],
  ['5', 'ribbon PR 357', 'unit/ribbon-pains.test.ts'],
  ['7', 'ribbon 394', 'unit/ribbon-pains.test.ts'],
  ['8', 'ribbon 171', 'unit/ribbon-pains.test.ts'],
  ['10', 'ribbon 466', 'unit/ribbon-pains.test.ts'],
  ['11', 'Netflix/ribbon#200', 'unit/pings.test.ts'],
  ['14', 'spring-cloud-netflix 3131', 'unit/ribbon-pains.test.ts'],
  ['16', 'spring-cloud-netflix 1878', 'unit/ribbon-pains.test.ts'],
  ['17', 'spring-cloud-netflix#3974', 'unit/retry-handlers.test.ts'],
  ['19', 'spring-cloud-netflix 1072', 'unit/ribbon-pains.test.ts'],
  ['22', 'spring-cloud-commons#747', 'unit/retry-handlers.test.ts'],
  ['weights', 'servicecomb-java-chassis 2176', 'unit/ribbon-pains.test.ts'],
  ['health checks', 'spring-cloud-commons 842', 'unit/health.test.ts'],
  ['sticky', 'commons 1144', 'spring/issues.test.ts'],
  ['shares', 'spring-cloud-netflix 3114', 'unit/ribbon-pains.test.ts'],
]

it.each(SURVEY)('%s: %s has its test in %s', async (_, named, file) => {
  const source = await readFile(new URL(`../${file}`, import.meta.url), 'utf8')
  const titles = [...source.matchAll(/^\s*(?:describe|it)(?:\.each)?\b[^\n]*/gm)].map(([line]) => line)
  const isNamed = new RegExp(`(?<!\\w)${named}(?!\\d)`)
  expect(titles.filter((title) => isNamed.test(title)).length).toBeGreaterThan(0)
})
