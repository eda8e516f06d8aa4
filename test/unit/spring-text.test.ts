/** How Spring reads files, whatever they configure: names, documents, profiles, placeholders, YAML 1.1, .properties. */

import { describe, expect, it } from 'vitest'
import { EvenkeelError } from '../../bindings/index.js'
import { fromSpring } from '../../bindings/spring/index.js'
import type { SpringOptions } from '../../bindings/spring/types.js'

const PREFIX = 'spring.cloud.loadbalancer'

/** Linters take `${` in a plain string for a mistake. */
const dollars = (text: string) => text.replaceAll('@{', '$' + '{')

/** What the zone is in the end: any key would do. */
const zoneOf = (text: string, options?: SpringOptions) => fromSpring(text, options).options.zone

describe('names', () => {
  it.each([
    'retry.retry-on-all-operations',
    'retry.retryOnAllOperations',
    'retry.retry_on_all_operations',
    'RETRY.RETRY_ON_ALL_OPERATIONS',
    'retry.RetryOnAllOperations',
  ])('%s is one name', (name) => {
    const expected = { defaults: { retry: { retryOnAllOperations: true } } }
    expect(fromSpring(`${PREFIX}.${name}=true`)).toEqual({ options: expected, warnings: [] })
    expect(fromSpring(`${PREFIX}:\n  ${name}: true`)).toEqual({ options: expected, warnings: [] })
  })

  it.each(['clients.Inventory-Service', 'clients[my.svc]', 'clients[user_service]'])(
    '%s keeps its spelling',
    (client) => {
      const id = /[[.]([^[\]]+)\]?$/.exec(client)?.[1] as string
      const { options, warnings } = fromSpring(`${PREFIX}.${client}.x-forwarded.enabled=true`)
      expect(options.services).toEqual({ [id]: { xForwarded: true } })
      expect(warnings).toEqual([])
    },
  )

  it('takes an id in brackets and quotes in YAML', () => {
    const { options } = fromSpring(`
spring.cloud.loadbalancer.clients:
  "[my.svc]":
    configurations: weighted
`)
    expect(options.services).toEqual({ 'my.svc': { preset: 'weighted' } })
  })

  it('tells of characters that Spring drops from an id without brackets', () => {
    const { options, warnings } = fromSpring(`${PREFIX}.clients.user_service.configurations=weighted`)
    expect(options.services).toEqual({ user_service: { preset: 'weighted' } })
    expect(warnings[0]?.message).toBe(
      'read as "user_service"; Spring reads "userservice" unless the id is in brackets: "[user_service]"',
    )
  })

  it('takes what follows a map of texts as one key', () => {
    const { options } = fromSpring(`${PREFIX}.hint.my.svc=v2\n${PREFIX}.hint[other.svc]=v3`)
    expect(options.defaults?.hints).toEqual({ 'my.svc': 'v2', 'other.svc': 'v3' })
  })
})

describe('the format', () => {
  it.each<[string, string, SpringOptions['format']]>([
    ['a comment, then =', `# zone: x\n\n${PREFIX}.zone=a`, undefined],
    ['spaces around =', `${PREFIX}.zone  = a`, undefined],
    ['a colon in .properties, as YAML', `${PREFIX}.zone: a`, undefined],
    ['a colon in .properties, if told so', `${PREFIX}.zone: a`, 'properties'],
    ['a document mark', `---\n${PREFIX}.zone: a`, undefined],
    ['= in a value of YAML', `other: "x=y"\n${PREFIX}.zone: a`, undefined],
    ['JSON', `{ "spring": { "cloud": { "loadbalancer": { "zone": "a" } } } }`, undefined],
    ['Windows line ends', `a=b\r\n${PREFIX}.zone=a\r\n`, undefined],
    ['a byte order mark', `\uFEFF${PREFIX}.zone=a`, undefined],
  ])('is seen by %s', (_, text, format) => {
    expect(zoneOf(text, format && { format })).toBe('a')
  })

  it.each(['', '\n', '# nothing\n', '---\n---\n', '[]', 'text'])('has nothing in %o', (text) => {
    expect(fromSpring(text)).toEqual({ options: {}, warnings: [] })
  })

  it.each([
    ['a tab in YAML', 'a:\n\tb: 1', /no YAML.*line 2/s],
    ['a key twice', 'a: 1\na: 2', /no YAML/],
    ['an alias of nothing', 'a: *b', /no YAML/],
    ['a bad escape', 'a=\\u12', /no \.properties/],
  ])('is refused: %s', (_, text, message) => {
    expect(() => fromSpring(text)).toThrow(EvenkeelError)
    expect(() => fromSpring(text)).toThrow(message)
  })

  it.each([
    ['text', undefined, {}],
    ['format', '', { format: 'toml' }],
    ['profiles', '', { profiles: 'prod' }],
    ['environment', '', { environment: 'prod' }],
    ['profile', '', { profile: 'prod' }],
  ])('is refused: %s', (option, text, options) => {
    // biome-ignore lint/suspicious/noExplicitAny: the point is what types would refuse
    expect(() => fromSpring(text as any, options as any)).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: `fromSpring.${option}` }),
    )
  })
})

describe('what fromSpring is called with', () => {
  it.each<[string, unknown, unknown, string]>([
    ['bytes', Buffer.from('a: 1'), {}, 'text must be the text of a file, not 4 bytes: decode them'],
    [
      'an array of bytes',
      new Uint8Array(3),
      {},
      "text must be the text of a file, not 3 bytes: decode them, as readFile(path, 'utf8') does",
    ],
    ['a buffer', new ArrayBuffer(3), {}, 'text must be the text of a file, not 3 bytes'],
    ['a promise', Promise.resolve(''), {}, 'text must be the text of a file, not a promise: await it'],
    ['nothing', undefined, {}, 'text must be the text of a file, not undefined'],
    ['a format', '', { format: 'toml' }, "format must be 'yaml' or 'properties', not \"toml\""],
    ['profiles', '', { profiles: 'prod' }, 'profiles must be an array of names, not "prod"'],
    ['a profile', '', { profiles: ['a', 1] }, 'profiles[1] must be a name, not 1'],
    ['an environment', '', { environment: 'prod' }, 'environment must be an object of texts, not "prod"'],
    ['a variable', '', { environment: { PORT: 80 } }, 'environment.PORT must be a text, not 80'],
    ['options', '', null, 'options must be an object of options, not null'],
  ])('is told of by name and value: %s', (_, text, options, message) => {
    // biome-ignore lint/suspicious/noExplicitAny: the point is what types would refuse
    expect(() => fromSpring(text as any, options as any)).toThrow(`fromSpring.${message}`)
  })

  it.each([
    ['profile', 'did you mean profiles? accepted: format, profiles, environment'],
    ['enviroment', 'did you mean environment?'],
    ['encoding', 'accepted: format'],
  ])('is told what there is: %s', (option, message) => {
    expect(() => fromSpring('', { [option]: [] })).toThrow(`fromSpring has no option "${option}"; ${message}`)
  })
})

describe('YAML', () => {
  it.each([
    ['on', true],
    ['Yes', true],
    ['off', false],
    ['"true"', true],
  ])('%s is the boolean %s', (written, value) => {
    expect(fromSpring(`${PREFIX}.x-forwarded.enabled: ${written}`).options.defaults?.xForwarded).toBe(value)
  })

  it.each([
    ['v1.10', 'v1.10'],
    ['1.0', '1.0'],
    ['1.10', '1.1'],
    ['010', '8'],
    ['"010"', '010'],
    ['1_000', '1000'],
    ['2020-01-01', '2020-01-01'],
    ['y', 'y'],
    ['1e5', '1e5'],
    ['true', 'true'],
  ])('%s is the text %s, as it is to Spring', (written, value) => {
    expect(zoneOf(`${PREFIX}.zone: ${written}`)).toBe(value)
  })

  it('has merge keys and aliases, with what stands beside them on top', () => {
    const { options } = fromSpring(`
common: &common
  configurations: weighted
  retry: &retry { max-retries-on-next-service-instance: 2 }
  x-forwarded: { enabled: true }
spring.cloud.loadbalancer:
  clients:
    orders:
      <<: [*common, { x-forwarded: { enabled: false } }]
      configurations: subset
    payments:
      <<: *common
      retry: { max-retries-on-same-service-instance: 1 }
    stock:
      retry: *retry
`)
    expect(options.services).toEqual({
      orders: { preset: 'subset', retry: { maxRetriesOnNextServiceInstance: 2 }, xForwarded: true },
      payments: { preset: 'weighted', retry: { maxRetriesOnSameServiceInstance: 1 }, xForwarded: true },
      stock: { retry: { maxRetriesOnNextServiceInstance: 2 } },
    })
  })

  it.each([
    [
      'grow without end',
      `a: &a [x, x, x, x, x, x, x, x, x, x]\n${'bcdefgh'.replace(/./g, (c) => `${c}: &${c} [${Array(10).fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)}]\n`)}`,
    ],
    ['contain themselves', 'a: &a [*a]'],
  ])('refuses aliases that %s', (_, text) => {
    expect(() => fromSpring(text)).toThrow(/too deep or too large/)
  })

  it('has the line of a key, in any document', () => {
    const { warnings } = fromSpring(`a: 1\n---\nspring:\n  cloud:\n    loadbalancer:\n      zoen: x\n`)
    expect(warnings).toEqual([expect.objectContaining({ line: 6, key: `${PREFIX}.zoen`, value: 'x' })])
  })
})

describe('.properties', () => {
  it('has continued lines, escapes and comments', () => {
    const text = `! comment\n${PREFIX}.hint.default = \\u4e0a\\\n    \\u6d77\n${PREFIX}.hint[a\\ b]:x\n`
    expect(fromSpring(text, { format: 'properties' }).options.defaults?.hints).toEqual({ default: '上海', 'a b': 'x' })
  })

  it.each([
    ['#---', 'b'],
    ['!---', 'b'],
    [' #---', 'a'],
    ['# ---', 'a'],
    ['#----', 'a'],
    ['# above\n#---', 'a'],
    ['#---\n# below', 'a'],
  ])('%o begins a document or does not', (separator, zone) => {
    // Within one document the guard is the whole file's.
    const text = `${PREFIX}.zone=a\n${separator}\nspring.config.activate.on-profile=p\n${PREFIX}.zone=b\n`
    expect(zoneOf(text, { profiles: ['p'] })).toBe('b')
    expect(zoneOf(text, { profiles: [] })).toBe(zone === 'b' ? 'a' : undefined)
  })

  it('has the line of a key', () => {
    expect(fromSpring(`a=b\\\nc\n${PREFIX}.zoen=x`).warnings).toEqual([expect.objectContaining({ line: 3 })])
  })
})

describe('documents', () => {
  it('win over earlier ones, key by key', () => {
    const { options } = fromSpring(`
spring.cloud.loadbalancer: { zone: a, cache.ttl: 5s }
---
spring.cloud.loadbalancer: { zone: b }
`)
    expect(options).toEqual({ zone: 'b', defaults: { cache: { ttlMs: 5_000 } } })
  })

  it.each([
    ['[500, 502, 504]', '[503]'],
    ['500,502,504', '[503]'],
    ['[500, 502, 504]', '503'],
  ])('replace a list whole: %s, then %s', (first, second) => {
    const key = `${PREFIX}.retry.retryable-status-codes`
    const { options } = fromSpring(`${key}: ${first}\n---\n${key}: ${second}`)
    expect(options.defaults?.retry).toEqual({ statusCodes: [503] })
  })

  it('replace a list of instances whole', () => {
    const key = 'spring.cloud.discovery.client.simple.instances.orders'
    const { options } = fromSpring(
      `${key}: [{ uri: http://a:1 }, { uri: http://b:1 }]\n---\n${key}: [{ uri: http://c:1 }]`,
    )
    expect(options.services).toEqual({ orders: { instances: [{ host: 'c', port: 1, secure: false }] } })
  })

  it('may list in any order', () => {
    const key = `${PREFIX}.retry.retryable-status-codes`
    const { options } = fromSpring(`${key}[1]=502\n${key}[0]=500\n${key}[10]=504\n${key}[2]=503`)
    expect(options.defaults?.retry).toEqual({ statusCodes: [500, 502, 503, 504] })
  })
})

describe('profiles', () => {
  const guarded = (guard: string) => `${PREFIX}.zone: a\n---\n${guard}\n${PREFIX}.zone: b`

  it.each<[string, string[] | undefined, string]>([
    ['prod', ['prod'], 'b'],
    ['prod', ['dev', 'prod'], 'b'],
    ['prod', ['dev'], 'a'],
    ['prod', undefined, 'a'],
    ['default', undefined, 'b'],
    ['default', ['prod'], 'a'],
    ['dev, prod', ['prod'], 'b'],
    ['"!prod"', ['dev'], 'b'],
    ['"!prod"', ['prod'], 'a'],
    ['prod & eu', ['prod', 'eu'], 'b'],
    ['prod & eu', ['prod'], 'a'],
    ['prod & (eu | us)', ['prod', 'us'], 'b'],
    ['prod & !(eu | us)', ['prod', 'us'], 'a'],
    ['[dev, prod]', ['prod'], 'b'],
  ])('on-profile %s, active %o', (guard, profiles, zone) => {
    const text = guarded(`spring.config.activate.on-profile: ${guard}`)
    expect(zoneOf(text, profiles && { profiles })).toBe(zone)
  })

  it.each<[string, string[], string]>([
    ['prod', ['prod'], 'b'],
    ['prod', ['dev'], 'a'],
    ['"dev,prod"', ['prod'], 'b'],
  ])('spring.profiles %s, active %o', (guard, profiles, zone) => {
    expect(zoneOf(guarded(`spring.profiles: ${guard}`), { profiles })).toBe(zone)
  })

  it.each(['a & b | c', '(a', 'a)', '&', ''])('refuses the expression %o', (expression) => {
    const text = guarded(`spring.config.activate.on-profile: "${expression}"`)
    expect(() => fromSpring(text, { profiles: ['a'] })).toThrow(/on-profile must be profiles/)
  })

  it('tells that the active ones are not taken from the file', () => {
    const text = 'spring.profiles.active=prod'
    expect(fromSpring(text).warnings).toEqual([expect.objectContaining({ key: text.split('=')[0], line: 1 })])
    expect(fromSpring(text, { profiles: ['prod'] }).warnings).toEqual([])
  })

  it('leaves out a document for a platform, and says so', () => {
    const { options, warnings } = fromSpring(guarded('spring.config.activate.on-cloud-platform: kubernetes'))
    expect(options.zone).toBe('a')
    expect(warnings).toEqual([expect.objectContaining({ value: 'kubernetes', line: 3 })])
  })
})

describe('placeholders', () => {
  const zone = (value: string, rest = '', environment: Record<string, string> = {}) =>
    zoneOf(dollars(`${PREFIX}.zone=${value}\n${rest}`), { environment })

  it.each<[string, string, Record<string, string>, string]>([
    ['@{region}', 'region=eu', {}, 'eu'],
    ['@{region:us}', '', {}, 'us'],
    ['@{region:}-x', '', {}, '-x'],
    ['@{region:us}', 'region=eu', {}, 'eu'],
    ['@{region}', 'region=eu', { region: 'asia' }, 'asia'],
    ['@{my.region-name}', '', { MY_REGIONNAME: 'eu' }, 'eu'],
    ['@{my.region-name}', 'my.regionName=eu', {}, 'eu'],
    ['z-@{region}-@{rack:1}', 'region=eu', {}, 'z-eu-1'],
    ['@{a}', 'a=@{b}\nb=@{c:deep}', {}, 'deep'],
    ['@{a:@{b:@{c:last}}}', '', {}, 'last'],
    ['@{a:@{b}}', 'b=2', {}, '2'],
    ['@{@{which}}', 'which=a\na=x', {}, 'x'],
    ['@{open', '', {}, '@{open'],
  ])('%s with %o and %o', (value, rest, environment, expected) => {
    expect(zone(value, rest, environment)).toBe(dollars(expected))
  })

  it.each(['@{nothing}', '@{a}', 'x-@{b}'])('%s is left out with a warning', (value) => {
    const { options, warnings } = fromSpring(dollars(`${PREFIX}.zone=${value}\na=@{a}\nb=@{nothing}`))
    expect(options).toEqual({})
    expect(warnings).toEqual([expect.objectContaining({ key: `${PREFIX}.zone`, value: dollars(value), line: 1 })])
  })

  it('are resolved before a value is read', () => {
    const { options } = fromSpring(`${PREFIX}.cache.ttl=\${TTL:5s}`, { environment: { TTL: '1m' } })
    expect(options.defaults?.cache).toEqual({ ttlMs: 60_000 })
  })
})

describe('instanceId', () => {
  const id = (text: string, environment: Record<string, string> = {}) =>
    fromSpring(dollars(text), { environment }).options.instanceId

  it.each<[string, Record<string, string>, string | undefined]>([
    ['', {}, undefined],
    ['spring.application.name=web', {}, 'web'],
    ['spring.application.name=web\nserver.port=8080', {}, 'web:8080'],
    ['spring.application.name=web\nserver.port=8080', { HOSTNAME: 'pod-7' }, 'pod-7:web:8080'],
    ['spring.application.name=web\nserver.port=@{PORT:81}', { HOSTNAME: 'pod-7' }, 'pod-7:web:81'],
    ['spring.application.name=web\nspring.application.instance_id=3\nserver.port=80', {}, 'web:3'],
    ['spring.cloud.client.hostname=h\nspring.application.name=web', { HOSTNAME: 'pod-7' }, 'h:web'],
    ['spring.application.name=web', { 'vcap.application.instance_id': 'v1' }, 'v1'],
    ['spring.application.name=@{nothing}', {}, undefined],
  ])('of %o and %o', (text, environment, expected) => {
    expect(id(text, environment)).toBe(expected)
  })
})
