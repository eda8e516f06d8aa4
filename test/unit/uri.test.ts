import { describe, expect, it } from 'vitest'
import { hostOf, reconstructUrl } from '../../bindings/client/uri.js'
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
    [{ host: 'h' }, 'http://s/x', 'http://h/x'],
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
