/** @module What SCLB's health check asks an instance, and which answer it takes for a good one. */

import { expect } from 'chai'
import file from '../../vectors/sclb-health-url.json'
import { candidates, replayed, springOptions, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface HealthUrlVector extends Vector {
  path?: Record<string, string>
  port?: number
  instance: { host: string; port: number; secure?: boolean }
  /** 0: no answer, the request fails. */
  status: number
  alive?: boolean
  url?: string
  error?: string
}

export const cases = replayed<HealthUrlVector>(file, ({ path = {}, port, instance, status, alive, url }) => {
  const { service: options, defaults } = springOptions({
    configurations: 'health-check',
    'health-check.repeat-health-check': false,
    ...(port !== undefined && { 'health-check.port': port }),
    ...Object.fromEntries(Object.entries(path).map(([name, value]) => [`health-check.path.${name}`, value])),
  })
  const asked: string[] = []
  const transport = async (input: string | URL | Request) => {
    // As the request leaves; what is no URL does not.
    asked.push(new URL(String(input)).href)
    if (status === 0) throw new TypeError('no answer')
    return new Response(null, { status })
  }
  return withService(
    { ...options, instances: [instance] },
    async (service) => {
      await service.check()
      expect(await candidates(service)).to.deep.equal(alive === true ? [0] : [])
      expect(asked).to.deep.equal(url === undefined ? [] : [new URL(url).href])
    },
    { defaults, fetch: transport },
  )
})
