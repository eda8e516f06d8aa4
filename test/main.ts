/**
 * `npm test`: builds, runs the unit and end-to-end tests, then the conformance suite on each runtime that `npm ci`
 * brings, and says at its end how many passed on which. Status 1 if anything failed or did not run.
 */
import { spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { installPackages } from '../tools/extra-packages.js'

const UNIT = 'build/test-unit.json'
const RUNTIMES = 'build/test-runtimes.json'

/** Runs a tool of this repository with its output shown; resolves to its exit status. */
function run(tool: string, ...args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(`node_modules/.bin/${tool}`, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

async function readSummary<T>(file: string): Promise<T | undefined> {
  return readFile(file, 'utf8').then(JSON.parse, () => undefined)
}

await Promise.all([rm(UNIT, { force: true }), rm(RUNTIMES, { force: true })])
if ((await run('tsx', 'tools/build.ts')) !== 0) {
  console.error('the build failed: nothing was tested')
  process.exit(1)
}
installPackages('test/registries/witnesses', "the registries' tests")
const unitStatus = await run('vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${UNIT}`)
const runtimeStatus = await run('tsx', 'test/runtime/main.ts', '--json', RUNTIMES)

const unit = await readSummary<{ numPassedTests: number; numFailedTests: number }>(UNIT)
const runtimes = await readSummary<{ runtimes: { runtime: string; passed: number; failed: number }[] }>(RUNTIMES)
console.log(
  `\nTests on Node ${process.versions.node} (unit: unit and end-to-end; the others: conformance on each runtime)\n`,
)
console.log(
  unit === undefined ? 'unit: did not run' : `unit: ${unit.numPassedTests} passed, ${unit.numFailedTests} failed`,
)
for (const { runtime, passed, failed } of runtimes?.runtimes ?? [])
  console.log(`${runtime}: ${passed} passed, ${failed} failed`)
if (runtimes === undefined) console.log('runtimes: did not run')
process.exitCode = unitStatus === 0 && runtimeStatus === 0 && unit !== undefined && runtimes !== undefined ? 0 : 1
