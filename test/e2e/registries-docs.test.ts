/** The pages about registries: their examples compile against the built package, their tables name what there is. */

import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { consulDiscovery } from 'evenkeel/consul'
import { dnsDiscovery } from 'evenkeel/dns'
import { etcdDiscovery } from 'evenkeel/etcd'
import { eurekaDiscovery } from 'evenkeel/eureka'
import { kubernetesDiscovery } from 'evenkeel/kubernetes'
import { nacosDiscovery } from 'evenkeel/nacos'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const OVERVIEW = 'docs/registries.md'

/** The option types of each page, and the table, by its heading, that has them. */
const TABLES = {
  consul: { Options: 'ConsulDiscoveryOptions' },
  dns: { Options: 'DnsDiscoveryOptions' },
  etcd: { Options: 'EtcdDiscoveryOptions' },
  eureka: { Options: 'EurekaDiscoveryOptions', Registration: 'EurekaRegistrationOptions' },
  kubernetes: { Options: 'KubernetesDiscoveryOptions' },
  nacos: { Options: 'NacosDiscoveryOptions' },
} as const
const factories = {
  consul: consulDiscovery,
  dns: dnsDiscovery,
  etcd: etcdDiscovery,
  eureka: eurekaDiscovery,
  kubernetes: kubernetesDiscovery,
  nacos: nacosDiscovery,
} as const
const registries = Object.keys(TABLES) as (keyof typeof TABLES)[]

const pages = new Map<string, string>()
for (const path of [
  OVERVIEW,
  ...(await readdir(join(root, 'docs/registries'))).map((name) => `docs/registries/${name}`),
]) {
  pages.set(path, await readFile(join(root, path), 'utf8'))
}
const pageOf = (registry: string) => pages.get(`docs/registries/${registry}.md`) as string

let folder: string
let program: ts.Program
/** By page and number. */
const blocks = [...pages].flatMap(([path, text]) =>
  [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code], i) => ({
    name: `${basename(path, '.md')} ${i}`,
    file: `${basename(path, '.md')}-${i}.ts`,
    code: code as string,
  })),
)

beforeAll(async () => {
  await mkdir(join(root, 'build'), { recursive: true })
  folder = await mkdtemp(join(root, 'build/registries-docs-'))
  for (const { file, code } of blocks) await writeFile(join(folder, file), code)
  const probe = registries.map((name) => `import * as ${name} from 'evenkeel/${name}'\nexport { ${name} }\n`).join('')
  await writeFile(join(folder, 'probe.ts'), probe)
  program = ts.createProgram(
    ['probe.ts', ...blocks.map(({ file }) => file)].map((file) => join(folder, file)),
    {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUnusedParameters: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      moduleDetection: ts.ModuleDetectionKind.Force,
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: ['node'],
    },
  )
}, 60_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('examples', () => {
  it('are on every page', () => {
    for (const path of pages.keys()) {
      const name = basename(path, '.md')
      expect(
        blocks.some((block) => block.file === `${name}-0.ts`),
        name,
      ).toBe(true)
    }
  })

  it.each(blocks)('$name compiles', ({ file }) => {
    const source = program.getSourceFile(join(folder, file)) as ts.SourceFile
    const complaints = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    expect(complaints.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
  })
})

describe.each(registries)('the page of %s', (name) => {
  it.each(Object.entries(TABLES[name]))('has in its table "%s" what %s has', (heading, type) => {
    expect(optionsOf(pageOf(name), heading)).toEqual(fieldsOf(name, type))
  })

  it('has in its table what is accepted', () => {
    const factory = factories[name] as (options: object) => unknown
    const accepted = /accepted: (.*)$/.exec(messageOf(() => factory({ noSuchOption: 1 })))?.[1]?.split(', ')
    const written = optionsOf(pageOf(name), 'Options').map((option) => option.split('.')[0])
    expect([...new Set(written)]).toEqual(accepted?.toSorted())
  })

  it('says what a reader looks for, in the order of the others', () => {
    const headings = [...pageOf(name).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(headings.filter((heading) => heading !== 'Which resolver')).toEqual([
      'Options',
      'How fresh',
      expect.stringMatching(/^From .* to an instance$/),
      'When it fails',
      'Registration',
      'When not to use it',
    ])
  })
})

it('has the options of all clients in the overview', () => {
  expect(optionsOf(pages.get(OVERVIEW) as string, 'Options of all clients')).toEqual(sharedFields())
})

it('links to what is there', async () => {
  for (const [path, text] of pages) {
    for (const [, target] of text.matchAll(/\]\(([^)]+)\)/g)) {
      const [file, anchor] = (target as string).split('#')
      if (/^https?:/.test(target as string)) continue
      const linked = file ? join(root, dirname(path), file) : join(root, path)
      await stat(linked)
      if (anchor) expect(anchorsOf(await readFile(linked, 'utf8')), `${path}: ${target}`).toContain(anchor)
    }
  }
})

/** Names in the first cells of a heading's first table of options, sorted. */
function optionsOf(page: string, heading: string): string[] {
  const [, section = ''] = page.split(new RegExp(`^## ${heading}$`, 'm'))
  const [own = ''] = section.split(/^## /m)
  const table = /^\| option \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(own)?.[1] ?? ''
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '')
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, option]) => option as string)).sort()
}

/** Names of an option type's fields, those of an object of options as `registration.ttlMs`; sorted. */
function fieldsOf(registry: string, type: string): string[] {
  return program
    .getTypeChecker()
    .getPropertiesOfType(exported(registry, type))
    .flatMap((field) => {
      const inner = ownOptionsOf(field)
      return inner.length > 0 ? inner.map((each) => `${field.name}.${each.name}`) : [field.name]
    })
    .sort()
}

/** Of a field whose type is an interface of options of the same package. */
function ownOptionsOf(field: ts.Symbol): ts.Symbol[] {
  const checker = program.getTypeChecker()
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(field))
  return type.symbol?.name.endsWith('Options') ? checker.getPropertiesOfType(type) : []
}

function exported(registry: string, type: string): ts.Type {
  const checker = program.getTypeChecker()
  const probe = checker.getSymbolAtLocation(program.getSourceFile(join(folder, 'probe.ts')) as ts.SourceFile)
  const entry = checker.getExportsOfModule(probe as ts.Symbol).find(({ name }) => name === registry) as ts.Symbol
  const found = checker.getExportsOfModule(checker.getAliasedSymbol(entry)).find(({ name }) => name === type)
  if (found === undefined) throw new Error(`evenkeel/${registry} exports no ${type}`)
  return checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(found))
}

/** Fields that all registries' option types have, and take from the same place. */
function sharedFields(): string[] {
  const [first, ...others] = registries.map((name) => fieldsOf(name, TABLES[name].Options))
  return (first as string[]).filter((field) => others.every((fields) => fields.includes(field)))
}

function messageOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

/** As GitHub makes them. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    (heading as string)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
