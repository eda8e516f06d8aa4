/** @module Which cookies SCLB's RequestData finds in the Cookie headers of a plain HTTP request. */

import { expect } from 'chai'
import { stickySession } from 'evenkeel'
import file from '../../vectors/sclb-cookies.json'
import { candidates, replayed, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface CookiesVector extends Vector {
  headers: string[]
  cookies: Record<string, string[]>
  found: string | null
}

const STICKY = 'sc-lb-instance-id'
/** RFC 6265: only such a name can be asked for. */
const ASKABLE = /^[!#$%&'*+.^`|~\w-]+$/

export const cases = replayed<CookiesVector>(file, async ({ headers, cookies, found }) => {
  const expected = new Map(Object.entries(cookies).map(([name, [value = '']]) => [name, value]))
  for (const name of [STICKY, ...[...expected.keys()].filter((name) => name !== STICKY && ASKABLE.test(name))]) {
    const value = name === STICKY ? (found ?? '') : (expected.get(name) as string)
    // Whoever is called like the cookie's value is found by it.
    const instances = [
      { instanceId: 'other', host: 'other' },
      { instanceId: value || 'nobody', host: 'found' },
    ]
    await withService({ instances, suppliers: [stickySession({ cookie: name })] }, async (service) => {
      const request = { headers: headers.map((line): [string, string] => ['Cookie', line]) }
      expect(await candidates(service, request), name).to.deep.equal(value === '' ? [0, 1] : [1])
    })
  }
})
