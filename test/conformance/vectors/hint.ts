/** @module SCLB's HintBasedServiceInstanceListSupplier, with its properties as a Spring file has them. */

import { expect } from 'chai'
import file from '../../vectors/sclb-hint.json'
import { candidates, lines, placed, replayed, springOptions, tagged, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface HintVector extends Vector {
  hint?: Record<string, string>
  hintHeaderName?: string
  headers?: Record<string, string[]>
  hints: (string | null)[]
  candidates: number[]
}

export const cases = replayed<HintVector>(
  file,
  ({ hint = {}, hintHeaderName, headers = {}, hints, candidates: expected }) => {
    const { service: options, defaults } = springOptions({
      ...(hintHeaderName !== undefined && { 'hint-header-name': hintHeaderName }),
      ...Object.fromEntries(Object.entries(hint).map(([name, value]) => [`hint.${name}`, value])),
    })
    const instances = placed(tagged('hint', hints))
    return withService(
      { suppliers: defaults.suppliers ?? ['hint'], ...options, instances },
      async (service) => {
        const request = { method: 'GET', url: 'http://svc/', headers: lines(headers) }
        expect(await candidates(service, request)).to.deep.equal(expected)
      },
      { defaults },
    )
  },
)
