/** @module SCLB's `spring.cloud.loadbalancer.configurations`: a chain by its name. */

import { ConfigError } from '../errors.js'
import { show } from '../show.js'
import type { PresetName, ServiceOptions } from '../types/options.js'

type Preset = Pick<ServiceOptions, 'cache' | 'healthCheck' | 'suppliers'>

/** SCLB 5.0 LoadBalancerClientConfiguration. A health-checked list is refetched by its checks, so it has no cache. */
const PRESETS: Readonly<Record<PresetName, Preset>> = {
  default: {},
  'zone-preference': { suppliers: ['zone-preference'] },
  'health-check': { healthCheck: {} },
  'request-based-sticky-session': { suppliers: ['sticky-session'] },
  'same-instance-preference': { suppliers: ['same-instance-preference'] },
  weighted: { suppliers: ['weighted'] },
  subset: { suppliers: ['subset'] },
  'api-version': { suppliers: ['api-version'] },
}

/** What SCLB has for a name that it does not know: no supplier, hence never an instance. */
const NOBODY: Preset = {
  suppliers: [{ name: 'unknown-preset', memoKey: () => undefined, filter: () => [] }],
}

/** @throws EVENKEEL_CONFIG for a name that is none, unless `lenient` */
export function presetOf(name: string, where: string, lenient: boolean): Preset {
  const known = name.toLowerCase()
  const preset = Object.hasOwn(PRESETS, known) ? PRESETS[known as PresetName] : undefined
  if (preset !== undefined) return preset
  if (lenient) return NOBODY
  throw new ConfigError(`${where}: there is no preset ${show(name)}; known: ${Object.keys(PRESETS).join(', ')}`, {
    option: where,
  })
}
