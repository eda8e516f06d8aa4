/** @module The program behind `npm start`, started as a user starts it (less the build). */

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const REQUESTS = 600
const INSTANCES = ['equal-1', 'equal-2', 'slow', 'fast-503', 'other-zone', 'heavy']

interface Ended {
  status: number | null
  stdout: string
  stderr: string
}

/** `preload` is JavaScript that runs in the program before it. */
function start(args: readonly string[], { preload = '', cwd = ROOT } = {}): Promise<Ended> {
  const { NODE_OPTIONS: _, INIT_CWD: __, ...env } = process.env
  const child = spawn(join(ROOT, 'node_modules/.bin/tsx'), [join(ROOT, 'examples/demo/main.ts'), ...args], {
    cwd,
    env: preload ? { ...env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` } : env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  child.stderr.on('data', (chunk) => (stderr += chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, stdout, stderr }))
  })
}

interface Line {
  weight: number
  picks: number
  share: number
  errors: number
  p50: number
  p99: number
}

/** The table under a title, by instance, and the line below it. */
function tableIn(output: string, title: RegExp): { lines: Map<string, Line>; notice: string } {
  const all = output.split('\n')
  const at = all.findIndex((line) => title.test(line))
  expect(at, `a title like ${title}`).toBeGreaterThanOrEqual(0)
  const end = all.findIndex((line, i) => i > at && line.startsWith('└'))
  const cells = all
    .slice(at, end)
    .filter((line) => line.startsWith('│'))
    .map((line) => line.split('│').map((cell) => cell.trim()))
  const lines = new Map<string, Line>()
  for (const [, instance = '', , weight, picks, share = '', errors, p50, p99] of cells.slice(1)) {
    lines.set(instance, {
      weight: Number(weight),
      picks: Number(picks),
      share: Number(share.replace(' %', '')),
      errors: Number(errors),
      p50: Number(p50),
      p99: Number(p99),
    })
  }
  return { lines, notice: all[end + 1] ?? '' }
}

function sum(lines: Map<string, Line>, key: keyof Line): number {
  return [...lines.values()].reduce((total, line) => total + line[key], 0)
}

function picksOf(lines: Map<string, Line>, instance: string): number {
  return lines.get(instance)?.picks ?? Number.NaN
}

describe('npm start', { timeout: 60_000 }, () => {
  let ended: Ended
  const under = (title: RegExp) => tableIn(ended.stdout, title)

  beforeAll(async () => {
    ended = await start([])
  }, 60_000)

  it('ends by itself, with nothing to complain of and no progress bar in a pipe', () => {
    expect(ended).toMatchObject({ status: 0, stderr: '' })
    expect(ended.stdout).not.toContain('\u001b')
  })

  it.each([
    ['round-robin', /^round-robin \(/m],
    ['weighted round-robin', /^weighted round-robin \(/m],
    ['random', /^random \(/m],
    ['least-request', /^least-request \(/m],
    ['peak-ewma', /^peak-ewma \(/m],
  ])('shows who got what under %s', (_, title) => {
    const { lines, notice } = under(title)
    expect([...lines.keys()]).toEqual(INSTANCES)
    expect(sum(lines, 'picks')).toBe(REQUESTS)
    expect(sum(lines, 'share')).toBeCloseTo(100, 0)
    for (const [instance, { picks, share, errors, p50, p99 }] of lines) {
      expect(share).toBeCloseTo((100 * picks) / REQUESTS, 0)
      expect(errors).toBe(instance === 'fast-503' ? picks : 0)
      expect(p50).toBeGreaterThan(instance === 'slow' ? 50 : 0)
      expect(p99).toBeGreaterThanOrEqual(p50)
    }
    expect(notice).toMatch(/^Notice: slow [\d.]+ %, fast-503 [\d.]+ % \(fair: [\d.]+ %\): .+\.$/)
    expect(notice).toContain(`slow ${lines.get('slow')?.share.toFixed(1)} %`)
    expect(notice).toContain(`fast-503 ${lines.get('fast-503')?.share.toFixed(1)} %`)
  })

  it('gives equal turns, and turns by weight', () => {
    const equal = under(/^round-robin \(/).lines
    expect([...equal.values()].map(({ picks }) => picks)).toEqual([100, 100, 100, 100, 100, 100])
    const weighted = under(/^weighted round-robin \(/).lines
    expect([...weighted.values()].map(({ picks }) => picks)).toEqual([75, 75, 75, 75, 75, 225])
    expect(weighted.get('heavy')?.weight).toBe(3)
  })

  it('sends least-request to what fails fast, and peak-ewma away from both', () => {
    const turns = under(/^round-robin \(/).lines
    const leastRequest = under(/^least-request \(/).lines
    const peakEwma = under(/^peak-ewma \(/).lines
    expect(picksOf(leastRequest, 'fast-503')).toBeGreaterThan(1.2 * picksOf(turns, 'fast-503'))
    expect(picksOf(peakEwma, 'slow')).toBeLessThan(0.7 * picksOf(turns, 'slow'))
    expect(picksOf(peakEwma, 'fast-503')).toBeLessThan(0.2 * picksOf(turns, 'fast-503'))
  })

  it('explains a request of which something is really excluded', () => {
    const [, explanation = ''] = ended.stdout.split('Why a request goes where it goes')
    expect(explanation).toMatch(/^ {2}discovery +6 in +6 out$/m)
    expect(explanation).toMatch(/^ {2}zone-preference +6 in +5 out +keeps zone "shanghai"$/m)
    expect(explanation).toMatch(/^ {2}hint +5 in +2 out +keeps hint "v2"$/m)
    expect(explanation).toMatch(/^ {2}candidates +equal-2, heavy$/m)
    expect(explanation).toMatch(/^ {2}excluded +other-zone by zone-preference/m)
    expect(explanation).toMatch(/^ +equal-1, slow, fast-503 by hint/m)
    expect(explanation).toMatch(/^ {2}note +1 of 6 instances have weight metadata/m)
  })
})

describe('npm start, when something is wrong', { timeout: 60_000 }, () => {
  it.each([
    [
      'a port cannot be opened',
      /^evenkeel: can't open a port on 127\.0\.0\.1: listen EACCES\n$/,
      `import net from 'node:net'
       const listen = net.Server.prototype.listen
       net.Server.prototype.listen = function (...args) {
         if (args[1] !== '127.0.0.1') return listen.apply(this, args)
         process.nextTick(() => this.emit('error', new Error('listen EACCES')))
         return this
       }`,
    ],
    [
      'a backend answers what it should not',
      /^evenkeel: under round-robin: [\w-]+ answered 500, not 200\n$/,
      `import http from 'node:http'
       const { writeHead } = http.ServerResponse.prototype
       let answers = 0
       http.ServerResponse.prototype.writeHead = function (status, ...rest) {
         return writeHead.call(this, status === 200 && ++answers > 200 ? 500 : status, ...rest)
       }`,
    ],
    [
      'a request gets no answer',
      /^evenkeel: under round-robin: fetch failed: .+\n$/,
      `import http from 'node:http'
       const { writeHead } = http.ServerResponse.prototype
       let answers = 0
       http.ServerResponse.prototype.writeHead = function (...args) {
         if (++answers > 200) this.req.socket.destroy()
         return writeHead.apply(this, args)
       }`,
    ],
    [
      'client and backends count differently',
      /^evenkeel: under round-robin: [\w-]+ was picked \d+ times, but saw \d+ requests\n$/,
      `import http from 'node:http'
       const { emit } = http.Server.prototype
       let requests = 0
       http.Server.prototype.emit = function (event, request, response) {
         if (event !== 'request' || ++requests !== 200) return emit.apply(this, arguments)
         return response.end()
       }`,
    ],
  ])('says so in one line: %s', async (_, line, preload) => {
    const { status, stderr } = await start([], { preload })
    expect(stderr).toMatch(line)
    expect(status).toBe(1)
  })
})

describe('npm start -- --config', { timeout: 60_000 }, () => {
  let folder: string
  let config: string
  const servers: Server[] = []
  const seen: { port: number; url: string | undefined; headers: IncomingHttpHeaders }[] = []

  async function serve(): Promise<string> {
    const server = createServer((request, response) => {
      const { port } = server.address() as AddressInfo
      seen.push({ port, url: request.url, headers: request.headers })
      response.end('ok')
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async function file(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'evenkeel-demo-'))
    const [one, two, gone] = [await serve(), await serve(), await serve()]
    await new Promise((resolve) => servers[2]?.close(resolve))
    const services = {
      inventory: {
        instances: [
          { url: one, instanceId: 'one', zone: 'shanghai', weight: 3 },
          { url: two, instanceId: 'two', hint: 'v2' },
        ],
        suppliers: ['weighted', { type: 'hint', header: 'x-version' }],
        policy: { type: 'peak-ewma', decayMs: 1000 },
      },
      plain: [one, two],
      gone: [gone],
      strict: { instances: [one], suppliers: [{ type: 'hint', strict: true }], hints: { default: 'v3' } },
    }
    config = await file('lb.json', JSON.stringify({ services }))
    await file('broken.json', '{ "services": ')
    await file('list.json', '[]')
    await file('typo.json', JSON.stringify({ services: { inventory: { ...services.inventory, polcy: 'random' } } }))
    await file('number.json', '{ "services": { "inventory": 5 } }')
  })

  afterAll(async () => {
    for (const server of servers) server.close().closeAllConnections()
    await rm(folder, { recursive: true })
  })

  it('prints one JSON document, whose headers reached the suppliers and the backend', async () => {
    seen.length = 0
    const { status, stdout, stderr } = await start([
      ...['--config', config, '--service', 'inventory', '--requests', '7', '--path', '/stock?id=42', '--json'],
      ...['--header', 'X-Version: v2', '-H', 'accept-language: de'],
    ])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const { explain, instances, ...rest } = JSON.parse(stdout)
    expect(rest).toEqual({ policy: 'peak-ewma', service: 'inventory', requests: 7 })
    expect(instances).toEqual([
      {
        instanceId: 'one',
        zone: 'shanghai',
        weight: 3,
        picks: 0,
        share: 0,
        errors: 0,
        p50Ms: null,
        p99Ms: null,
      },
      {
        instanceId: 'two',
        zone: null,
        weight: 1,
        picks: 7,
        share: 1,
        errors: 0,
        p50Ms: expect.any(Number),
        p99Ms: expect.any(Number),
      },
    ])
    expect(explain.excluded).toEqual([{ instanceId: 'one', by: 'hint', reason: 'keeps hint "v2"' }])
    expect(seen).toHaveLength(7)
    for (const { url, headers } of seen) {
      expect(url).toBe('/stock?id=42')
      expect(headers).toMatchObject({ 'x-version': 'v2', 'accept-language': 'de' })
    }
  })

  it('prints a table and an explanation, under the policy asked for', async () => {
    const args = ['--config', config, '--service', 'inventory', '--requests', '40', '--policy', 'round-robin']
    const { status, stdout, stderr } = await start(args)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const { lines } = tableIn(stdout, /^round-robin: 40 requests to http:\/\/inventory\//)
    expect([...lines].map(([instance, { picks }]) => [instance, picks])).toEqual([
      ['one', 30],
      ['two', 10],
    ])
    expect(stdout).toMatch(/^ {2}hint +2 in +2 out +no hint$/m)
    expect(stdout).toMatch(/^ {2}candidates +one, two$/m)
  })

  it('picks alike in two runs, and finds the file from where npm was called', async () => {
    const args = ['--service', 'plain', '--policy', 'random', '--requests', '50', '--concurrency', '1', '--json']
    const picks = async (from: string[], options: Parameters<typeof start>[1]) =>
      JSON.parse((await start([...from, ...args], options)).stdout).instances.map((row: { picks: number }) => row.picks)
    const first = await picks(['--config', config], {})
    const elsewhere = `process.env.INIT_CWD = ${JSON.stringify(dirname(config))}`
    expect(await picks(['--config', basename(config)], { preload: elsewhere })).toEqual(first)
    expect(first[0] + first[1]).toBe(50)
    expect(Math.min(...first)).toBeGreaterThan(0)
  })

  it('shows its progress on a terminal, beside the output', async () => {
    const { stdout, stderr } = await start(['--config', config, '--service', 'plain', '--json'], {
      preload: 'process.stderr.isTTY = true',
    })
    expect(stderr).toMatch(/plain [█░]+ \d+\/100/)
    expect(JSON.parse(stdout).requests).toBe(100)
  })

  it.each([
    ['gone', /^evenkeel: 5 of 5 requests got no answer: fetch failed: connect ECONNREFUSED [\d.:]+\n$/],
    ['strict', /^evenkeel: 5 of 5 requests got no answer: no instance of "strict" .+ \(EVENKEEL_NO_INSTANCE\)\n$/],
  ])('shows what it knows when there was no answer from "%s", and fails', async (service, line) => {
    const { status, stdout, stderr } = await start(['--config', config, '--service', service, '--requests', '5'])
    expect(stderr).toMatch(line)
    expect(status).toBe(1)
    expect(stdout).toContain('candidates')
  })

  it('explains itself', async () => {
    const { status, stdout, stderr } = await start(['--help'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    for (const option of ['config', 'service', 'requests', 'concurrency', 'path', 'policy', 'header', 'json', 'help'])
      expect(stdout).toContain(`--${option}`)
    expect(stdout).toContain('npm start -- --config')
  })

  it.concurrent.each<[string[], string]>([
    [['--json'], '--config is missing (a run against your own services needs --config and --service)'],
    [['--config', 'lb.json'], '--service is missing (a run against your own services needs --config and --service)'],
    [['--config', 'lb.json', '--service', 'plain', '--speed', '9'], "Unknown option '--speed'"],
    [['--config', 'lb.json', '--service', 'plain', 'fast'], "Unexpected argument 'fast'"],
    [['--config', 'lb.json', '--service'], '--service needs a value'],
    [['--config', 'lb.json', '--service', '--json'], '--service needs a value'],
    [
      ['--config', 'lb.json', '--service', 'plain', '--requests', '0'],
      '--requests must be a whole number of 1 or more, not "0"',
    ],
    [
      ['--config', 'lb.json', '--service', 'plain', '--requests', '1.5'],
      '--requests must be a whole number of 1 or more, not "1.5"',
    ],
    [
      ['--config', 'lb.json', '--service', 'plain', '--requests=-1'],
      '--requests must be a whole number of 1 or more, not "-1"',
    ],
    [
      ['--config', 'lb.json', '--service', 'plain', '--concurrency', 'x'],
      '--concurrency must be a whole number of 1 or more, not "x"',
    ],
    [['--config', 'lb.json', '--service', 'plain', '--path', 'stock'], '--path must begin with "/", not "stock"'],
    [
      ['--config', 'lb.json', '--service', 'plain', '--header', 'x-version'],
      '--header must look like "name: value", not "x-version"',
    ],
    [
      ['--config', 'lb.json', '--service', 'plain', '--header', 'a b: c'],
      '--header must look like "name: value", not "a b: c"',
    ],
  ])('refuses the arguments %j', async (args, message) => {
    expect(await start(args)).toEqual({ status: 2, stdout: '', stderr: `evenkeel: ${message}; --help explains\n` })
  })

  it.concurrent.each<[string, string[], RegExp]>([
    ['no file', ['--config', 'no.json'], /^there is no file no\.json$/],
    ['a folder', ['--config', '.'], /^can't read \.: EISDIR/],
    ['broken JSON', ['--config', 'broken.json'], /^broken\.json is not JSON: .+$/],
    ['JSON that is no object', ['--config', 'list.json'], /^list\.json must hold an object, the options of /],
    [
      'an unknown service',
      ['--config', 'lb.json', '--service', 'stock'],
      /^lb\.json has no service "stock"; it has inventory, plain, /,
    ],
    ['no host name', ['--config', 'lb.json', '--service', 'a/b'], /^--service "a\/b" can't be the host of a URL$/],
    [
      'an unknown option',
      ['--config', 'typo.json'],
      /^services\.inventory has no option "polcy"; .+ \(EVENKEEL_CONFIG\)$/,
    ],
    [
      'no service',
      ['--config', 'number.json', '--policy', 'random'],
      /^services\.inventory must be an object of options, not 5 /,
    ],
    [
      'an unknown policy',
      ['--config', 'lb.json', '--policy', 'fastest'],
      /^services\.inventory\.policy: there is no policy "fastest"; /,
    ],
  ])('refuses a config: %s', async (_, args, message) => {
    const { status, stdout, stderr } = await start(['--service', 'inventory', ...args], { cwd: folder })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^evenkeel: [^\n]+\n$/)
    expect(stderr.slice('evenkeel: '.length, -1)).toMatch(message)
  })
})
