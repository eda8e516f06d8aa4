/** @module SCLB's LoadBalancerUriTools.reconstructURI, and the URI that an instance has of itself. */

import { expect } from 'chai'
import type { InstanceInit, Lease } from 'evenkeel'
import file from '../../vectors/sclb-uri.json'
import { expectRefusal, replayed, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface UriVector extends Vector {
  instance: { host: string; port: number; secure?: boolean; scheme?: string }
  original?: string
  result?: string
  uri?: string
  error?: string
}

async function reconstructed(instance: InstanceInit, original: string): Promise<string> {
  let url = ''
  await withService({ instances: [instance] }, (service) => {
    url = (service.pick() as Lease).url(original)
  })
  return url
}

/** Of a URI of its own an instance makes use in its health check alone, which adds a path to it. */
async function own(instance: InstanceInit): Promise<string> {
  const asked: string[] = []
  const transport = async (url: string | URL | Request) => {
    asked.push(String(url))
    return new Response()
  }
  const options = { instances: [instance], healthCheck: { path: '/p', repeat: false } }
  await withService(options, (service) => service.check(), { fetch: transport })
  expect(asked.length).to.equal(1)
  return asked[0] as string
}

export const cases = replayed<UriVector>(file, async ({ instance, original, result, uri, error }) => {
  const replay = () => (original === undefined ? own(instance) : reconstructed(instance, original))
  if (error !== undefined) return expectRefusal(replay)
  expect(await replay()).to.equal(original === undefined ? `${uri}/p` : result)
})
