/** From what was asked for to the URL of an instance. */

import { describe, expect, it } from 'vitest'
import type { InstanceInit } from '../../bindings/index.js'
import { errorOf, hosts, make, registry } from './kit.js'

const at = (host: string, port: number, rest: object = {}): InstanceInit => ({ host, port, ...rest })

function urlOf(instance: InstanceInit, original: string, compat: string[] = []): string | undefined {
  return make({ instances: [instance] }, { compat })
    .service.pick()
    ?.url(original)
}

describe('LoadBalancerUriToolsTests', () => {
  const plain = at('test.example', 8080)
  const secure = at('test.example', 8080, { secure: true })

  it.each([
    ['a URL of the instance stays as it is', plain, 'http://test.example:8080/xxx', 'http://test.example:8080/xxx'],
    ['the host is replaced', plain, 'http://testHost.example:8080/xxx', 'http://test.example:8080/xxx'],
    ['the port is replaced', plain, 'http://test.example:9090/xxx', 'http://test.example:8080/xxx'],
    [
      'the scheme of an instance that has one is used',
      at('test.example', 8080, { scheme: 'https' }),
      'http://test.example/xxx',
      'https://test.example:8080/xxx',
    ],
    ['else the scheme is kept', plain, 'https://test.example/xxx', 'https://test.example:8080/xxx'],
    ['http becomes https for a secure instance', secure, 'http://test.example/xxx', 'https://test.example:8080/xxx'],
    ['ws becomes wss for a secure instance', secure, 'ws://test.example/xxx', 'wss://test.example:8080/xxx'],
    ['https is never made http', plain, 'https://svc/', 'https://test.example:8080/'],
    ['without a scheme it is http', plain, '//test.example/xxx', 'http://test.example:8080/xxx'],
    ['without a scheme it is https for a secure one', secure, '//svc/xxx', 'https://test.example:8080/xxx'],
    ['port 0 is a port', at('test.example', 0), 'http://test.example:8080/xxx', 'http://test.example:0/xxx'],
    ['no port is 80 for http', at('test.example', -1), 'http://test.example:8080/xxx', 'http://test.example:80/xxx'],
    [
      'no port is 443 for https',
      at('test.example', -1, { secure: true }),
      'https://test.example:8080/xxx',
      'https://test.example:443/xxx',
    ],
    ['no port is 443 for wss', at('t', -1, { secure: true }), 'ws://svc/', 'wss://t:443/'],
    [
      'user info, path, query and fragment are kept',
      at('t', 1),
      'http://u@h/p?q1=t1&q2=t2#f',
      'http://u@t:1/p?q1=t1&q2=t2#f',
    ],
    [
      'what is encoded is kept',
      at('t', 1),
      'http://svc/path%40%21%242?query=val%40%21%242#frag%40%21%242',
      'http://t:1/path%40%21%242?query=val%40%21%242#frag%40%21%242',
    ],
    ['a path that is encoded in part is kept', at('t', 1), 'http://svc/a%2Fb c?x=%', 'http://t:1/a%2Fb c?x=%'],
    ['an IPv6 host is bracketed', at('::1', 8080), 'http://svc/x', 'http://[::1]:8080/x'],
  ])('%s', (_, instance, original, expected) => {
    expect(urlOf(instance, original)).toBe(expected)
  })

  it('wss without a port goes to 80 only where SCLB is asked for', () => {
    expect(urlOf(at('t', -1, { secure: true }), 'ws://svc/', ['wss-port-80'])).toBe('wss://t:80/')
  })

  it('without an instance there is no URL: the call says so, and nothing is sent', async () => {
    const { lb, sent } = make({ instances: [] })
    expect(await errorOf(lb.fetch('http://s/xxx'))).toMatchObject({ code: 'EVENKEEL_NO_INSTANCE' })
    expect(sent).toEqual([])
  })

  it('an instance that is only a binding has none either', () => {
    const { service } = make({ instances: [{ instanceId: 'bound', fetcher: { fetch: async () => new Response() } }] })
    expect(() => service.pick()?.url('http://s/xxx')).toThrow(expect.objectContaining({ code: 'EVENKEEL_NO_ADDRESS' }))
  })
})

/** Interface clients have a base URL, or only a group of that name. */
describe.each([
  ['LoadBalancerRestClientHttpServiceGroupConfigurerTests', (list: InstanceInit[]) => ({ instances: list })],
  ['LoadBalancerWebClientHttpServiceGroupConfigurerTests', (list: InstanceInit[]) => ({ discovery: registry(list) })],
])('%s', (_, listed) => {
  it('without a base URL a path goes to the service of that name', async () => {
    const { service, sent } = make(listed(hosts('a')))
    await service.fetch('/stores?x=1')
    expect(sent[0]?.url).toBe('http://a:8080/stores?x=1')
  })

  it('with the scheme lb, in capitals or not, a URL is balanced and goes out as http', async () => {
    const { lb, sent } = make(listed(hosts('a')))
    for (const scheme of ['lb', 'LB', 'Lb']) await lb.fetch(`${scheme}://s/stores`)
    expect(sent.map(({ url }) => url)).toEqual(Array(3).fill('http://a:8080/stores'))
  })

  it('with the scheme lb a URL goes out as https to a secure instance', async () => {
    const { lb, sent } = make(listed([at('a', 8443, { secure: true })]))
    await lb.fetch('lb://s/stores')
    expect(sent[0]?.url).toBe('https://a:8443/stores')
  })

  it('any other base URL is not balanced, where the balancer passes through what it does not know', async () => {
    const { lb, sent } = make(listed(hosts('a')), { unknownService: 'passthrough' })
    await lb.fetch('https://api.example.org/stores?x=%7C')
    expect(sent[0]?.url).toBe('https://api.example.org/stores?x=%7C')
  })
})
