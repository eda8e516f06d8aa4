/** @module The text of a file as the properties that apply. */

import { effectiveProperties } from './effective.js'
import { relaxedName } from './name.js'
import { isActive, platformGuard } from './profiles.js'
import { propertiesDocuments } from './properties-documents.js'
import type { Property } from './property.js'
import type { Report } from './report.js'
import type { SpringOptions } from './types.js'
import { yamlDocuments } from './yaml-documents.js'

/** In order: of two with one name, the later wins. */
export function propertiesIn(text: string, options: SpringOptions, report: Report): readonly Property[] {
  const { format = formatOf(text), profiles } = options
  const documents = format === 'yaml' ? yamlDocuments(text) : propertiesDocuments(text)
  const active = documents.filter((document) => {
    const platform = platformGuard(document)
    if (platform !== undefined) report.warn(platform, 'this document is left out: the platform is not known here')
    return platform === undefined && isActive(document, profiles ?? [])
  })
  for (const property of profiles === undefined ? active.flat() : []) {
    if (relaxedName(property.elements) === 'spring.profiles.active') {
      report.warn(property, 'not read: give fromSpring the active profiles, as { profiles: [...] }')
    }
  }
  return effectiveProperties(active)
}

/** The first line that says something is `key=value` in one format only. */
function formatOf(text: string): 'yaml' | 'properties' {
  for (const line of text.split(/\r?\n|\r/)) {
    if (/^\s*([#!].*)?$/.test(line)) continue
    return /^\s*[^\s:="'{-][^\s:=]*\s*=/.test(line) ? 'properties' : 'yaml'
  }
  return 'yaml'
}
