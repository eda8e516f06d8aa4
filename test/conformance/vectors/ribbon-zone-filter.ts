/** @module Ribbon's ZoneAffinityServerListFilter, and Spring's ZonePreferenceServerListFilter upon it. */

import { expect } from 'chai'
import { roundRobin } from 'evenkeel'
import file from '../../vectors/ribbon-zone-filter.json'
import { Ribbon, type RibbonVector, replayedRibbon, ribbonOptions } from './ribbon.js'
import type { Properties } from './ribbon-properties.js'

interface ZoneFilterVector extends RibbonVector {
  readonly properties: Readonly<Record<string, number | boolean | string>>
  readonly zones: readonly (string | null)[]
  readonly active: readonly number[]
  readonly failures: readonly number[]
  readonly affinity: readonly number[]
  readonly preference: readonly number[]
}

const FILTERS = {
  affinity: 'com.netflix.loadbalancer.ZoneAffinityServerListFilter',
  preference: 'org.springframework.cloud.netflix.ribbon.ZonePreferenceServerListFilter',
} as const

export const cases = replayedRibbon<ZoneFilterVector>(
  file,
  async ({ properties, zones, active, failures, ...kept }) => {
    const { '@zone': zone, ...own } = properties as Properties & { '@zone'?: string }
    for (const [name, className] of Object.entries(FILTERS)) {
      const { suppliers } = ribbonOptions({ ...own, 'svc.ribbon.NIWSServerListFilterClassName': className })
      const options = { serverStats: true, ...(zone !== undefined && { zone }), ...(suppliers && { suppliers }) }
      // In one zone, its own, all can be loaded.
      const ribbon = new Ribbon(roundRobin(), new Array(zones.length).fill(zone ?? null), options)
      await ribbon.list([...zones.keys()])
      for (const place of zones.keys()) ribbon.load(place, active[place] as number, failures[place] as number)
      await ribbon.zones(zones)
      expect(await ribbon.candidates(), name).to.deep.equal(kept[name as keyof typeof FILTERS])
      await ribbon.close()
    }
  },
)
