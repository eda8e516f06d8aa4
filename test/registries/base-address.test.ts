import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { registryAddress } from '../../bindings/discovery/registry/registry-address.js'
import { RegistryHttp } from '../../bindings/discovery/registry/registry-http.js'

const refusal = (given: unknown): Error => {
  try {
    registryAddress(given as string, 'url')
  } catch (error) {
    return error as Error
  }
  throw new Error('it was accepted')
}

describe('the address of a registry', () => {
  it('is shown without slashes at its end, and is of http or https', () => {
    expect(registryAddress('http://consul:8500/', 'url')).toEqual({
      base: 'http://consul:8500',
      authorization: undefined,
    })
    expect(registryAddress(new URL('https://eureka/eureka//'), 'url').base).toBe('https://eureka/eureka')
    expect(registryAddress('http://[::1]:8761/eureka', 'url').base).toBe('http://[::1]:8761/eureka')
  })

  it('nodejs/undici#3220: credentials in it become a header, in UTF-8 and decoded, and are not shown', () => {
    const { base, authorization } = registryAddress('http://us%40er:p%C3%A4ss%3Aw@host:1/x', 'url')
    expect(base).toBe('http://host:1/x')
    expect(authorization).toBe(`Basic ${Buffer.from('us@er:päss:w').toString('base64')}`)
    expect(registryAddress('http://token@host', 'url').authorization).toBe(`Basic ${btoa('token:')}`)
  })

  it('nodejs/undici#3220: is one that fetch takes', async () => {
    const sent: [string, string | null][] = []
    const http = new RegistryHttp('test', {
      fetch: async (input, init) => {
        const request = new Request(input, init)
        sent.push([request.url, request.headers.get('authorization')])
        return new Response('{}')
      },
    })
    const address = registryAddress('http://user:secret@host:1', 'url')
    await http.ask({ address, path: '/v1', signal: new AbortController().signal })
    expect(sent).toEqual([['http://host:1/v1', `Basic ${btoa('user:secret')}`]])
  })

  it('that is none is refused by name, never with its credentials', () => {
    const given = [
      'ftp://user:s3cret@host',
      'http://user:s3cret@ho st',
      'http://user:s3cret@host/?token=s3cret',
      'http://user:s3cret@host/#s3cret',
      'user:s3cret@host',
      'http://user:s3/cret@host:x',
      42,
      null,
      undefined,
      {},
    ]
    for (const each of given) {
      const error = refusal(each)
      expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option: 'url' })
      expect(error.message).toMatch(/^url must be an http or https URL/)
      expect(inspect(error)).not.toMatch(/s3cret|cret@/)
    }
  })

  it('takes a percent sign in its credentials for what it is where nothing is encoded', () => {
    expect(registryAddress('http://user:100%@host', 'url').authorization).toBe(`Basic ${btoa('user:100%')}`)
  })
})
