/** @module Ribbon's Server: what an address says. */

import { expect } from 'chai'
import { createLoadBalancer, type ServiceInstance } from 'evenkeel'
import file from '../../vectors/ribbon-server.json'
import { expectRefusal } from './replay.js'
import { type RibbonVector, replayedRibbon } from './ribbon.js'

interface ServerVector extends RibbonVector {
  readonly address: string
  readonly serverId?: string
  readonly host?: string
  readonly port?: number
  readonly scheme?: string
  readonly error?: string
}

export const cases = replayedRibbon<ServerVector>(file, async ({ address, serverId, host, port, scheme, error }) => {
  const lb = createLoadBalancer({ compat: 'ribbon', services: { svc: { instances: ['http://unused'] } } })
  const read = () => {
    const service = lb.service('svc')
    service.update([address])
    return service.instances()[0]
  }
  if (error !== undefined) await expectRefusal(read)
  else {
    const found = read() as ServiceInstance
    expect([found.instanceId, found.host, found.port, found.secure]).to.deep.equal([
      serverId,
      host,
      port,
      scheme === 'https',
    ])
  }
  await lb.close()
})
