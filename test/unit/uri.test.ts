import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hostOf, originOf, pathOf, reconstructUrl } from '../../bindings/client/uri.js'
import { quirksOf } from '../../bindings/compat/quirks.js'
import { toInstance } from '../../bindings/instance.js'
import type { InstanceInit } from '../../bindings/types/instance.js'

const to = (init: InstanceInit, original: string) => reconstructUrl(toInstance(init, 's', 'instance'), original)

describe('reconstructUrl', () => {
  // SCLB 5.0 LoadBalancerUriToolsTests, but for its re-encoding of partly encoded URLs.
  it.each<[InstanceInit, string, string]>([
    [{ host: 'test.example', port: 8080 }, 'http://test.example:8080/xxx', 'http://test.example:8080/xxx'],
    [{ host: 'test.example', port: 8080 }, 'http://testHost.example:8080/xxx', 'http://test.example:8080/xxx'],
    [{ host: 'test.example', port: 8080, scheme: 'https' }, 'http://test.example/xxx', 'https://test.example:8080/xxx'],
    [{ host: 'test.example', port: 8080 }, 'https://test.example/xxx', 'https://test.example:8080/xxx'],
    [{ host: 'test.example', port: 8080, secure: true }, 'http://test.example/xxx', 'https://test.example:8080/xxx'],
    [{ host: 'test.example', port: 8080, secure: true }, 'ws://test.example/xxx', 'wss://test.example:8080/xxx'],
    [{ host: 'test.example', port: 8080 }, '//test.example/xxx', 'http://test.example:8080/xxx'],
    [{ host: 'test.example', port: 0 }, 'http://test.example:8080/xxx', 'http://test.example:0/xxx'],
    [{ host: 'h', port: 1 }, 'http://u@s/p?q1=t1&q2=t2#f', 'http://u@h:1/p?q1=t1&q2=t2#f'],
    [
      { host: 'h', port: 1 },
      'http://s/path%40%21%242?query=val%40%21%242#frag%40',
      'http://h:1/path%40%21%242?query=val%40%21%242#frag%40',
    ],
    [{ host: 'h', port: 1 }, 'http://s/x?m=%3CHello=World@x%3E', 'http://h:1/x?m=%3CHello=World@x%3E'],
    [{ host: 'h', port: 1, secure: true }, 'http://s/x?q=a+b|c', 'https://h:1/x?q=a+b|c'],
    [{ host: 'h' }, 'http://s/x', 'http://h:80/x'],
    [{ host: 'h' }, 'https://s/x', 'https://h:443/x'],
    [{ host: 'h' }, 'wss://s/x', 'wss://h:443/x'],
    [{ host: 'h', secure: true }, 'ws://s/x', 'wss://h:443/x'],
    [{ host: 'h' }, 'ftp://s/x', 'ftp://h:80/x'],
    [{ host: 'h', port: 0, secure: true }, 'http://s/x', 'https://h:0/x'],
    [{ host: 'h', port: 80 }, 'http://h/x', 'http://h:80/x'],
    [{ host: 'h', port: 80 }, 'http://u@h:080/x', 'http://u@h:080/x'],
    [{ host: 'h', port: 80 }, 'https://h:80/x', 'https://h:80/x'],
    [{ host: 'h', port: 80 }, 'HTTP://s/x', 'HTTP://h:80/x'],
    [{ host: 'fe80::1', port: 80 }, 'http://s/', 'http://[fe80::1]:80/'],
    ['http://[fe80::1]:8080', 'http://s/x', 'http://[fe80::1]:8080/x'],
    [{ host: 'h', port: 1 }, 'http://s', 'http://h:1'],
    [{ host: 'h', port: 1 }, 'http://s?x', 'http://h:1?x'],
    [{ host: 'h', port: 1 }, '/stock/42?x#y', 'http://h:1/stock/42?x#y'],
    ['https://h:1', '/stock/42', 'https://h:1/stock/42'],
    ['http://h:1', 'https://s/x', 'http://h:1/x'],
    ['http://h:1', 'wss://s/x', 'ws://h:1/x'],
    ['https://h', 'http://s/x', 'https://h:443/x'],
  ])('%j: %s becomes %s', (init, original, expected) => {
    expect(to(init, original)).toBe(expected)
  })

  it('has no URL for an instance that is only a binding', () => {
    const binding = { instanceId: 'b', fetcher: { fetch: () => Promise.resolve(new Response()) } }
    expect(() => to(binding, 'http://s/')).toThrow(expect.objectContaining({ code: 'EVENKEEL_NO_ADDRESS' }))
  })

  it('refuses what is neither a URL nor a path', () => {
    expect(() => to('http://h:1', 'stock/42')).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG' }))
  })
})

describe('what SCLB itself makes of a URL', () => {
  interface Vector {
    id: string
    instance: { host: string; port: number; secure: boolean; scheme?: string }
    original?: string
    result?: string
  }
  const file = new URL('../vectors/sclb-uri.json', import.meta.url)
  const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }
  const spring = quirksOf('spring')
  const springUrl = ({ instance, original = '' }: Vector) =>
    reconstructUrl({ instanceId: 'i', serviceId: 's', metadata: {}, ...instance }, original, spring)

  /** What is not asked of evenkeel, or answered otherwise on purpose. */
  const isOut = ({ instance: { host, scheme, secure }, original, result }: Vector) =>
    original === undefined ||
    // Java's URI refuses the host, or there is none: such an instance can't be made here.
    result === undefined ||
    host === '' ||
    host.startsWith('[') ||
    !/^([a-z]+:)?\/\/|^\//i.test(original) ||
    // A scheme in upper case can be made secure here.
    (/^[A-Z]+:/.test(original) && secure) ||
    // A web socket stays one, whatever its instance speaks otherwise.
    (/^wss?:/.test(original) && scheme?.startsWith('http') === true)

  it('comes out of the quirks, byte for byte', () => {
    const asked = vectors.filter((vector) => !isOut(vector))
    expect(asked.length).toBeGreaterThan(400)
    expect(asked.map((vector) => [vector.id, springUrl(vector)])).toEqual(asked.map(({ id, result }) => [id, result]))
  })

  it.each([
    // Not encoded to the last character, so all of it counts as not encoded.
    ['http://s/?m=%3Ca=b%3E', 'http://h:1/?m=%253Ca=b%253E'],
    ['http://s/a|b%20?q=\u00e9\u00a0#%', 'http://h:1/a%7Cb%2520?q=\u00e9%C2%A0#%25'],
    ['http://\u00fc@s/%7C', 'http://\u00fc@h:1/%257C'],
    ['http://u%40@s/%7C?a=%20=', 'http://u%2540@h:1/%257C?a=%2520='],
    // Runs of slashes and empty pairs are lost, and a name's values gathered.
    ['http://s//a//b?x=1&&y=2&x=3&=z', 'http://h:1/a/b?x=1&x=3&y=2&z'],
    ['http://s/a?', 'http://h:1/a'],
    ['http://s/%7C?q=%7C', 'http://h:1/%7C?q=%7C'],
  ])('uri-double-encode: %s becomes %s', (original, expected) => {
    const instance = toInstance({ host: 'h', port: 1 }, 's', 'instance')
    expect(reconstructUrl(instance, original, quirksOf(['uri-double-encode']))).toBe(expected)
  })

  it('wss-port-80: only this quirk gives a wss instance without a port that of http', () => {
    const instance = toInstance({ host: 'h' }, 's', 'instance')
    expect(reconstructUrl(instance, 'wss://s/x', quirksOf(['wss-port-80']))).toBe('wss://h:80/x')
    expect(reconstructUrl(instance, 'https://s/x', quirksOf(['wss-port-80']))).toBe('https://h:443/x')
  })
})

describe('parts of a URL', () => {
  it.each([
    ['http://s/a%2Fb/?x/y#z', '/a%2Fb/'],
    ['http://s', '/'],
    ['http://s?x/y', '/'],
    ['/a/b?x', '/a/b'],
    ['?x', '/'],
  ])('the path of %s is %s', (url, path) => {
    expect(pathOf(url)).toBe(path)
  })

  it.each([
    ['https://u:p@My_S:8443/x', { scheme: 'https', authority: 'My_S:8443' }],
    ['http://[::1]/x', { scheme: 'http', authority: '[::1]' }],
    ['//s?x', { scheme: 'http', authority: 's' }],
    ['/x', undefined],
  ])('the origin of %s is %o', (url, origin) => {
    expect(originOf(url)).toEqual(origin)
  })
})

describe('hostOf', () => {
  it.each([
    ['http://MyService/p', 'MyService'],
    ['http://my_service/p', 'my_service'],
    ['http://svc1.1/x', 'svc1.1'],
    ['http://-svc/x', '-svc'],
    ['lb://Svc-A/x?y=1#z', 'Svc-A'],
    ['//svc/x', 'svc'],
    ['http://user:p@svc:80/x', 'svc'],
    ['http://svc?x@y', 'svc'],
    ['http://svc#@y', 'svc'],
    ['http://[fe80::1]:8080/x', '[fe80::1]'],
  ])('of %s is %s', (url, host) => {
    expect(hostOf(url)).toBe(host)
  })

  it.each(['http:///xxx', '/x', 'svc/x', '', 'http://svc:80x/'])('of %j is none', (url) => {
    expect(hostOf(url)).toBeUndefined()
  })
})
