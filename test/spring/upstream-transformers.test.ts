/** What is changed of a request on its way to an instance. */

import { describe, expect, it } from 'vitest'
import type { RequestTransformer } from '../../bindings/index.js'
import { stickySession } from '../../bindings/index.js'
import { errorOf, failure, hosts, make, makeSpring } from './kit.js'

const ab = hosts('a', 'b')

describe('XForwardedHeadersTransformerTests', () => {
  const forwarded = async (properties: Record<string, string>, url: string, init?: RequestInit) => {
    const { lb, sent } = makeSpring(properties, { instances: ab })
    await lb.fetch(url, init)
    return ['host', 'proto'].map((name) => sent[0]?.headers.get(`x-forwarded-${name}`) ?? null)
  }
  const on = { 'x-forwarded.enabled': 'true' }

  it('tells host and scheme of what was asked for, if switched on', async () => {
    expect(await forwarded(on, 'https://s/x')).toEqual(['s', 'https'])
    expect(await forwarded(on, 'http://s:8443/x')).toEqual(['s:8443', 'http'])
  })

  it('adds nothing by default, or switched off', async () => {
    expect(await forwarded({}, 'https://s/x')).toEqual([null, null])
    expect(await forwarded({ 'x-forwarded.enabled': 'false' }, 'https://s/x')).toEqual([null, null])
  })

  it('leaves alone what the caller says', async () => {
    const headers = { 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': 'https' }
    expect(await forwarded(on, 'http://s/x', { headers })).toEqual(['shop.example', 'https'])
  })

  it('says it once, however many attempts', async () => {
    const { lb, sent } = make({ instances: ab, xForwarded: true }, {}, failure('ECONNREFUSED'), 200)
    await lb.fetch('http://s/x')
    expect(sent.map(({ headers }) => headers.get('x-forwarded-host'))).toEqual(['s', 's'])
  })

  it('names the instance only where SCLB is asked for', async () => {
    const { lb, sent } = make({ instances: ab, xForwarded: true }, { compat: ['x-forwarded-instance'] })
    await lb.fetch('http://s/x')
    expect(sent[0]?.headers.get('x-forwarded-host')).toBe('a')
  })
})

describe('LoadBalancerServiceInstanceCookieTransformerTests', () => {
  const adding = {
    configurations: 'request-based-sticky-session',
    'sticky-session.add-service-instance-cookie': 'true',
  }
  const cookies = async (properties: Record<string, string>, cookie?: string) => {
    const { lb, sent } = makeSpring(properties, { instances: ab })
    await lb.fetch('http://s/x', cookie === undefined ? undefined : { headers: { cookie } })
    return sent[0]?.headers.get('cookie') ?? null
  }

  it('adds a cookie with the id of the instance', async () => {
    expect(await cookies(adding)).toBe('sc-lb-instance-id=a')
  })

  it('adds it after those that are there', async () => {
    expect(await cookies(adding, 'k=1; l="2"')).toBe('k=1; l="2"; sc-lb-instance-id=a')
  })

  it('has the name that is configured', async () => {
    expect(await cookies({ ...adding, 'sticky-session.instance-id-cookie-name': 'node' })).toBe('node=a')
  })

  it('adds none unless it is told to', async () => {
    expect(await cookies({ configurations: 'request-based-sticky-session' }, 'k=1')).toBe('k=1')
  })

  it('replaces its own of an earlier instance', async () => {
    expect(await cookies(adding, 'sc-lb-instance-id=gone; k=1')).toBe('sc-lb-instance-id=a; k=1')
  })

  it('sends nothing if there is no instance', async () => {
    const { lb, sent } = make({ instances: [], suppliers: [stickySession({ addServiceInstanceCookie: true })] })
    expect(await errorOf(lb.fetch('http://s/'))).toMatchObject({ code: 'EVENKEEL_NO_INSTANCE' })
    expect(sent).toEqual([])
  })

  it('refuses a name that is empty or none', () => {
    for (const cookie of ['', null, 'a b']) {
      expect(() => stickySession({ cookie: cookie as string })).toThrow(
        expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: 'stickySession.cookie' }),
      )
    }
  })
})

/** Appends its name to a header. */
const marking =
  (name: string): RequestTransformer =>
  (request, { host }) => {
    request.headers.append('x-seen', `${name}@${host}`)
    return request
  }

describe('LoadBalancerRequestFactoryTests', () => {
  const seen = async (...transformers: RequestTransformer[]) => {
    const { lb, sent } = make({ instances: ab }, { transformers })
    await lb.fetch('http://s/x')
    return sent[0]?.headers.get('x-seen')
  }

  it('no transformers, or none in the list, change nothing', async () => {
    expect(await seen()).toBeNull()
    const { lb, sent } = make({ instances: ab })
    await lb.fetch('http://s/x', { headers: { k: 'v' } })
    expect([...(sent[0]?.headers ?? [])]).toEqual([['k', 'v']])
  })

  it('one is given the request and the instance', async () => {
    expect(await seen(marking('one'))).toBe('one@a')
  })

  it('two are given, in order, what the one before made', async () => {
    expect(await seen(marking('one'), marking('two'))).toBe('one@a, two@a')
    expect(await seen(marking('two'), marking('one'))).toBe('two@a, one@a')
  })
})

describe('LoadBalancerRequestFactoryConfigurationTests', () => {
  it('a transformer sees the URL of the instance, and what was asked for beside it', async () => {
    const urls: string[] = []
    const transformers: RequestTransformer[] = [
      (request, _, original) => (urls.push(request.url, original.url), request),
    ]
    const { lb } = make({ instances: ab }, { transformers })
    await lb.fetch('http://s/x?y=1')
    expect(urls).toEqual(['http://a:8080/x?y=1', 'http://s/x?y=1'])
  })

  it('what it returns is what is sent', async () => {
    const transformers: RequestTransformer[] = [(request) => new Request(`${request.url}?signed`, { method: 'PUT' })]
    const { lb, sent } = make({ instances: ab }, { transformers })
    await lb.fetch('http://s/x')
    expect([sent[0]?.method, sent[0]?.url]).toEqual(['PUT', 'http://a:8080/x?signed'])
  })

  it('one that returns nothing is an error that names it', async () => {
    const { lb, sent } = make({ instances: ab }, { transformers: [(request) => request, () => undefined as never] })
    expect(await errorOf(lb.fetch('http://s/x'))).toMatchObject({
      code: 'EVENKEEL_CONFIG',
      option: 'transformers[1]',
    })
    expect(sent).toEqual([])
  })

  it('each attempt begins with what the caller gave', async () => {
    const { lb, sent } = make({ instances: ab }, { transformers: [marking('one')] }, failure('ECONNREFUSED'), 200)
    await lb.fetch('http://s/x')
    expect(sent.map(({ headers }) => headers.get('x-seen'))).toEqual(['one@a', 'one@b'])
  })
})

describe('LoadBalancerClientRequestTransformerTest', () => {
  it('every way to send applies them, in their order', async () => {
    const { lb, service, sent } = make({ instances: ab }, { transformers: [marking('one'), marking('two')] })
    await lb.fetch('http://s/x')
    await lb.fetch(new Request('http://s/x'))
    await service.fetch('/x')
    await lb.with({ hint: 'h' }).fetch('http://s/x')
    await service.pick()?.fetch('/x')
    expect(sent.map(({ headers }) => headers.get('x-seen'))).toEqual([
      'one@a, two@a',
      'one@b, two@b',
      'one@a, two@a',
      'one@b, two@b',
      'one@a, two@a',
    ])
  })
})
