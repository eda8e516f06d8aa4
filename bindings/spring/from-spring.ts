/** @module Spring configuration files as evenkeel options. */

import type { LoadBalancerOptions } from '../types/options.js'
import { checkArguments } from './arguments.js'
import { propertiesIn } from './documents.js'
import { readElsewhere } from './elsewhere.js'
import { instanceIdIn, zoneIn } from './identity.js'
import { readLoadBalancer } from './load-balancer.js'
import { readNiws } from './niws.js'
import { lookupIn } from './placeholders.js'
import { Report } from './report.js'
import { readRibbon } from './ribbon.js'
import { Scopes } from './scopes.js'
import { type Found, translateServices } from './services.js'
import { readDiscovery } from './simple-discovery.js'
import type { SpringOptions, SpringTranslation } from './types.js'

/**
 * Reads `application.yml` or `.properties` text: `spring.cloud.loadbalancer.*`,
 * `spring.cloud.discovery.client.simple.*` and Ribbon's keys.
 * @returns options for `createLoadBalancer`, which a service without instances needs `discovery` added to, and warnings:
 *   each key that has no effect, or another than in Spring
 * @throws EVENKEEL_CONFIG for text that is neither, and for a value that Spring would not read: it names key and value
 * @see docs/spring.md for the table of keys
 * @example
 * const { options, warnings } = fromSpring(await readFile('application.yml', 'utf8'), { environment: process.env })
 * const lb = createLoadBalancer({ ...options, discovery })
 */
export function fromSpring(text: string, options: SpringOptions = {}): SpringTranslation {
  checkArguments(text, options)
  const report = new Report()
  const properties = propertiesIn(text, options, report)
  const lookup = lookupIn(properties, options.environment ?? {})
  const reading = { lookup, report }
  const found: Found = { sclb: new Scopes(), ribbon: new Scopes(), listed: new Map() }
  for (const property of properties) {
    if (readLoadBalancer(property, found.sclb, reading)) continue
    if (readDiscovery(property, found.listed, reading)) continue
    if (readNiws(property, found.ribbon, reading)) continue
    readRibbon(property, found.ribbon, reading)
  }
  readElsewhere(properties, report)

  const instanceId = instanceIdIn(lookup)
  const zone = found.sclb.all.get('zone') ?? zoneIn(lookup)
  const { defaults, services } = translateServices(found, { instanceId, zone }, report)
  const translated: LoadBalancerOptions = {
    ...(zone && { zone }),
    ...(instanceId && { instanceId }),
    ...(Object.keys(defaults).length > 0 && { defaults }),
    ...(Object.keys(services).length > 0 && { services }),
  }
  return { options: translated, warnings: report.warnings() }
}
