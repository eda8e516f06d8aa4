/** @module What a file says to other parts of Spring that matters to load balancing all the same. */

import { relaxedName } from './name.js'
import type { Property } from './property.js'
import type { Report } from './report.js'

const REGISTRY =
  'registries are discovery clients here: createLoadBalancer({ ...options, discovery }); what one is told is said to that client'

/** By the beginning of the name. */
const OTHERS: Readonly<Record<string, string>> = {
  eureka: REGISTRY,
  'spring.cloud.nacos': REGISTRY,
  'spring.cloud.consul': REGISTRY,
  'spring.cloud.zookeeper': REGISTRY,
  'spring.cloud.kubernetes': REGISTRY,
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
