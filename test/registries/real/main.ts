/**
 * `npm run test:registries`: runs the common cases, and what is compared with the fakes, on real registries, each a
 * process on loopback: etcd, dnsmasq, r-nacos and Spring's Eureka server, which Maven builds first. Status 1 if anything
 * failed, or if one of them is missing: nothing is skipped.
 */
import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { messageOf } from '../../../bindings/discovery/message-of.js'
import { EUREKA_JAR } from './eureka-jar.js'
import { programOf } from './tools.js'

const REPORT = 'build/test-registries.json'
const LEAST_JAVA = 17

/** What the tool prints, or undefined if there is no such tool. */
function ask(tool: string, ...args: string[]): string | undefined {
  const { error, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8' })
  return error === undefined ? `${stdout}${stderr}` : undefined
}

/** Which registries can't be run here, in words for whoever runs this. */
function missing(): string[] {
  const told: string[] = []
  for (const tool of ['etcd', 'dnsmasq', 'rnacos'] as const) {
    try {
      programOf(tool)
    } catch (error) {
      told.push(messageOf(error))
    }
  }
  const java = ask('java', '-version')
  const release = Number(java?.match(/version "(\d+)/)?.[1] ?? 0)
  if (java === undefined) told.push(`there is no java on the PATH: install a JDK, ${LEAST_JAVA} or newer`)
  else if (release < LEAST_JAVA) told.push(`java is version ${release}: install a JDK, ${LEAST_JAVA} or newer`)
  else if (ask('javac', '-version') === undefined) told.push('there is no javac on the PATH: install a JDK, not a JRE')
  if (ask('mvn', '-version') === undefined) told.push('there is no mvn on the PATH: install Apache Maven 3.8 or newer')
  return told
}

function run(tool: string, args: readonly string[]): number {
  const { status, error } = spawnSync(tool, args, { stdio: 'inherit' })
  if (error !== undefined) console.error(`registries: ${tool}: ${error.message}`)
  return status ?? 1
}

const told = missing()
if (told.length > 0) {
  for (const line of told) console.error(`registries: ${line}`)
  process.exit(1)
}
await mkdir('build', { recursive: true })
await rm(REPORT, { force: true })
await rm(EUREKA_JAR, { force: true })
if (run('mvn', ['-q', '-B', '-ntp', '-Dstyle.color=never', '-f', 'test/registries/eureka/pom.xml', 'package']) !== 0) {
  console.error('registries: the Eureka server could not be built')
  process.exit(1)
}
const args = ['run', '--config', 'test/registries/real/vitest.config.ts', '--root', '.']
const reporters = ['--reporter=verbose', '--reporter=json', `--outputFile.json=${REPORT}`]
const status = run('node_modules/.bin/vitest', [...args, ...reporters])
const report = await readFile(REPORT, 'utf8').then(JSON.parse, () => undefined)
if (report === undefined) {
  console.error('registries: did not run')
  process.exit(1)
}
const { numPassedTests: passed, numTotalTests: total } = report as { numPassedTests: number; numTotalTests: number }
// What did not run has not passed.
const failed = Math.max(total - passed, status === 0 ? 0 : 1)
console.log(`registries: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
