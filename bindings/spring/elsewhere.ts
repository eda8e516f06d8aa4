/** @module What a file says to other parts of Spring that matters to load balancing all the same. */

import { relaxedName } from './name.js'
import type { Property } from './property.js'
import type { Report } from './report.js'

/** By its factory, or one of the user's own. */
const registry = (factory?: string, entry?: string) =>
  factory === undefined
    ? 'there is no client of that registry: write one, { name, get(serviceId) }, and give it to createLoadBalancer as discovery'
    : `not translated: createLoadBalancer({ ...options, discovery: ${factory}({ … }) }), from 'evenkeel/${entry}'`

/** By the beginning of the name. */
const OTHERS: Readonly<Record<string, string>> = {
  eureka: registry('eurekaDiscovery', 'eureka'),
  'spring.cloud.nacos': registry('nacosDiscovery', 'nacos'),
  'spring.cloud.consul': registry('consulDiscovery', 'consul'),
  'spring.cloud.zookeeper': registry(),
  'spring.cloud.kubernetes': registry('kubernetesDiscovery', 'kubernetes'),
  'spring.config.import':
    'not followed: give the text of that file to a fromSpring of its own, or append it as a document',
}

/** Warns once for each of these parts, at its first key. */
export function readElsewhere(properties: readonly Property[], report: Report): void {
  const told = new Set<string>()
  for (const property of properties) {
    const name = relaxedName(property.elements)
    const part = Object.keys(OTHERS).find((each) => name === each || name.startsWith(`${each}.`))
    if (part === undefined || told.has(part)) continue
    told.add(part)
    report.warn(property, OTHERS[part] as string)
  }
}
