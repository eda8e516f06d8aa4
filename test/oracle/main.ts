/**
 * `npm run test:oracle`: drives the published Spring Cloud LoadBalancer and Netflix Ribbon (small Maven projects beside
 * this file; of the first, one profile a line), puts what they answer into one file a topic, and compares those with
 * test/vectors/sclb-*.json and ribbon-*.json. Status 1 if anything differs. `--update` writes the files instead.
 */
import { spawnSync } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'

const COMMITTED = 'test/vectors'
const BUILD = 'build/oracle'

/** The profiles of sclb/pom.xml, oldest first. */
const LINES = ['4.1', '5.0'] as const

/** The oldest release seen to answer as the newer line does, where that is not its first one, by the vector's id. */
const CHANGED: readonly (readonly [RegExp, string])[] = [
  [/^chain\//, '5.0.1'],
  [/^api-version\/call-get/, '5.0.4'],
  [/^(caching\/rewrite|health-url\/host|binding\/stats)/, '4.3.0'],
]

const changedIn = (id: string) => CHANGED.find(([ids]) => ids.test(id))?.[1] ?? '5.0.0'

interface Vector {
  id: string
  /** The version that brought this answer; absent: 4.1.2 gives it as well. */
  since?: string
  /** The version that brought another answer. */
  until?: string
}

interface TopicFile<Jar> {
  topic: string
  jar: Jar
  seed: number
  about: string
  vectors: Vector[]
}

/** What the tool prints, or undefined if there is no such tool. */
function ask(tool: string, ...args: string[]): string | undefined {
  const { error, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8' })
  return error === undefined ? `${stdout}${stderr}` : undefined
}

/** Why the jar cannot be driven here, in words for whoever runs this. */
function missing(): string[] {
  const told: string[] = []
  const java = ask('java', '-version')
  const release = Number(java?.match(/version "(\d+)/)?.[1] ?? 0)
  if (java === undefined) told.push('there is no java on the PATH: install a JDK, 17 or newer')
  else if (release < 17) told.push(`java is version ${release}: install a JDK, 17 or newer`)
  else if (ask('javac', '-version') === undefined) told.push('there is no javac on the PATH: install a JDK, not a JRE')
  if (ask('mvn', '-version') === undefined) told.push('there is no mvn on the PATH: install Apache Maven 3.8 or newer')
  return told
}

/** Lets one project answer, in one of its profiles; its files by topic. */
async function generate(project: string, profile?: string): Promise<Map<string, TopicFile<string>>> {
  const vectors = `${BUILD}/${profile ?? project}/vectors`
  await rm(vectors, { recursive: true, force: true })
  const args = [
    '-q',
    '-B',
    '-ntp',
    '-Dstyle.color=never',
    '-f',
    `test/oracle/${project}/pom.xml`,
    ...(profile === undefined ? [] : [`-P${profile}`]),
    'compile',
    'exec:java',
  ]
  const { status, stdout, stderr } = spawnSync('mvn', args, { encoding: 'utf8' })
  if (status !== 0) {
    console.error(`${stdout}${stderr}\noracle: mvn ${args.join(' ')} ended with status ${status}`)
    process.exit(1)
  }
  const files = (await readdir(vectors)).map(async (name): Promise<[string, TopicFile<string>]> => {
    const file: TopicFile<string> = JSON.parse(await readFile(`${vectors}/${name}`, 'utf8'))
    return [file.topic, file]
  })
  return new Map(await Promise.all(files))
}

/** What both lines answer stands once; of two answers to one question the older has the id with "@4.1" at its end. */
function merge(older: TopicFile<string> | undefined, newer: TopicFile<string>): TopicFile<string[]> {
  const before = new Map(older?.vectors.map((vector) => [vector.id, vector]))
  const vectors = newer.vectors.flatMap((vector): Vector[] => {
    const old = before.get(vector.id)
    const changed = changedIn(vector.id)
    if (old === undefined) return [{ ...vector, since: changed }]
    if (JSON.stringify(old) === JSON.stringify(vector)) return [vector]
    return [
      { ...old, id: `${old.id}@${LINES[0]}`, until: changed },
      { ...vector, since: changed },
    ]
  })
  return { ...newer, jar: older === undefined ? [newer.jar] : [older.jar, newer.jar], vectors }
}

/** One vector a line. */
function textOf({ vectors, ...header }: TopicFile<string[]>): string {
  const open = JSON.stringify(header).slice(0, -1)
  return `${open},"vectors":[\n${vectors.map((vector) => JSON.stringify(vector)).join(',\n')}\n]}\n`
}

/** How many lines of the generated file stand in the committed one, and how many of either stand in one alone. */
function compare(generated: string, committed: string): { passed: number; failed: number } {
  const vectorsOf = (text: string) => new Set(text.split('\n').map((line) => line.replace(/,$/, '')))
  const [now, before] = [vectorsOf(generated), vectorsOf(committed)]
  const isVector = (line: string) => line.startsWith('{"id"')
  const passed = [...now].filter((line) => isVector(line) && before.has(line)).length
  const different = [...now, ...before].filter((line) => isVector(line) && now.has(line) !== before.has(line))
  const ids = new Set(different.map((line) => (JSON.parse(line) as Vector).id))
  // The header and the order count as one more.
  return { passed, failed: ids.size || (generated === committed ? 0 : 1) }
}

const told = missing()
if (told.length > 0) {
  for (const line of told) console.error(`oracle: ${line}`)
  process.exit(1)
}
const isNamed = (name: string) => /^(sclb|ribbon)-.*\.json$/.test(name)
const committed = new Set((await readdir(COMMITTED)).filter(isNamed))
const total = { passed: 0, failed: 0 }

async function report(name: string, file: TopicFile<string[]>): Promise<void> {
  const text = textOf(file)
  if (process.argv.includes('--update')) await writeFile(`${COMMITTED}/${name}`, text)
  const { passed, failed } = compare(text, await readFile(`${COMMITTED}/${name}`, 'utf8').catch(() => ''))
  committed.delete(name)
  total.passed += passed
  total.failed += failed
  const differ = file.vectors.filter((vector) => vector.until !== undefined).length
  console.log(
    `${name}: ${file.vectors.length} vectors of ${file.jar.join(' and ')}, seed ${file.seed}, ` +
      `${differ === 0 ? '' : `${differ} answered otherwise by ${LINES[0]}, `}` +
      `${failed === 0 ? 'equal' : `${failed} DIFFER`}`,
  )
}

const byTopic = (files: Map<string, TopicFile<string>>) => [...files].sort(([a], [b]) => (a < b ? -1 : 1))
const [older, newer] = [await generate('sclb', LINES[0]), await generate('sclb', LINES[1])]
for (const [topic, file] of byTopic(newer)) await report(`sclb-${topic}.json`, merge(older.get(topic), file))
for (const [topic, file] of byTopic(await generate('ribbon'))) {
  await report(`ribbon-${topic}.json`, { ...file, jar: [file.jar] })
}
for (const name of committed) {
  total.failed++
  console.log(`${name}: no topic makes it (any more)`)
}
console.log(`oracle: ${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed === 0 ? 0 : 1
