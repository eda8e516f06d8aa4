/** @module SCLB's RequestBasedStickySessionServiceInstanceListSupplier. */

import { expect } from 'chai'
import { stickySession } from 'evenkeel'
import file from '../../vectors/sclb-sticky.json'
import { candidates, named, replayed, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface StickyVector extends Vector {
  ids: string[]
  cookieName?: string
  cookies?: Record<string, string[]>
  candidates: number[]
}

export const cases = replayed<StickyVector>(file, ({ ids, cookieName, cookies = {}, candidates: expected }) => {
  const suppliers = [stickySession(cookieName === undefined ? {} : { cookie: cookieName })]
  return withService({ instances: named(ids), suppliers }, async (service) => {
    // A request has one value of each cookie: the first, as SCLB's suppliers take it.
    const first = Object.fromEntries(Object.entries(cookies).map(([name, [value = '']]) => [name, value]))
    expect(await candidates(service, { cookies: first })).to.deep.equal(expected)
  })
})
