/** @module Reads `spring.cloud.discovery.*`: `client.simple.instances` has services with their instances. */

import { nearest } from './distance.js'
import { uri } from './instances.js'
import { type Reading, readValue } from './key.js'
import { child, isIndex, relaxed, relaxedName, spelled, written } from './name.js'
import type { Property } from './property.js'
import { anyText, boolean, type Reader, text, whole } from './readers.js'

export interface ListedInstance {
  host?: string
  port?: number
  secure?: boolean
  instanceId?: string
  metadata?: Record<string, string>
}

/** By service id; the properties say where an entry stands. */
export type Listed = Map<string, Map<number, { readonly instance: ListedInstance; readonly first: Property }>>

const PREFIX = ['spring', 'cloud', 'discovery']
const INSTANCES = [...PREFIX, 'client', 'simple', 'instances']

type Field = (instance: ListedInstance, property: Property, reading: Reading) => void

/** Spring has the service's name there, whatever it says. */
const UNREAD = 'service-id'

const FIELDS: Readonly<Record<string, Field>> = {
  uri: field(uri, (instance, address) => Object.assign(instance, address)),
  host: field(text, (instance, host) => (instance.host = host)),
  port: field(whole(-1, 65_535), (instance, port) => (instance.port = port)),
  secure: field(boolean, (instance, secure) => (instance.secure = secure)),
  'instance-id': field(text, (instance, id) => (instance.instanceId = id)),
  [UNREAD]: field(anyText, () => {}),
}

/** Keys that nothing here corresponds to, with the value that needs no word. */
const OTHERS: Readonly<Record<string, readonly [same: string, message: string]>> = {
  enabled: ['true', 'not translated: there is no discovery unless createLoadBalancer is given one'],
  'client.simple.order': ['0', 'not translated: a service with instances of its own asks no other discovery'],
}

/** Reads the property if it is one of these. */
export function readDiscovery(property: Property, listed: Listed, reading: Reading): boolean {
  const { elements } = property
  if (relaxedName(elements.slice(0, INSTANCES.length)) !== INSTANCES.join('.')) return readOther(property, reading)
  const [service, index, ...name] = elements.slice(INSTANCES.length)
  if (service === undefined || index === undefined || !isIndex(index) || name.length === 0) {
    reading.report.warn(property, `not read: an instance's keys are ${INSTANCES.join('.')}.<service id>[0].<key>`)
    return true
  }
  const instances = listed.get(service.text) ?? new Map()
  listed.set(service.text, instances)
  const entry = instances.get(Number(index.text)) ?? { instance: {}, first: property }
  instances.set(Number(index.text), entry)
  readField(property, name, entry.instance, reading)
  return true
}

function readField(property: Property, name: Property['elements'], instance: ListedInstance, reading: Reading): void {
  const [first, ...rest] = name
  if (relaxed(first?.text ?? '') === 'metadata' && rest.length > 0) {
    const value = readValue(anyText, property, reading)
    if (value !== undefined) instance.metadata = { ...instance.metadata, [spelled(rest)]: value }
    return
  }
  const found = Object.keys(FIELDS).find((each) => relaxed(each) === relaxedName(name))
  if (found !== undefined) FIELDS[found]?.(instance, property, reading)
  else {
    const near = nearKey(name)
    reading.report.warn(property, `not read: an instance has no such key${near ? `; did you mean ${near}?` : ''}`)
  }
}

function nearKey(name: Property['elements']): string | undefined {
  const [first, ...rest] = name
  const isMetadata = nearest(first?.text ?? '', ['metadata']) !== undefined
  if (isMetadata) return child('metadata', rest.length === 0 ? '<key>' : written(rest))
  return nearest(
    spelled(name),
    Object.keys(FIELDS).filter((field) => field !== UNREAD),
  )
}

function readOther(property: Property, { report }: Reading): boolean {
  const { elements, value } = property
  if (relaxedName(elements.slice(0, PREFIX.length)) !== PREFIX.join('.')) return false
  const [same, message] = OTHERS[relaxedName(elements.slice(PREFIX.length))] ?? []
  if (message !== undefined && value.trim() !== same) report.warn(property, message)
  return true
}

function field<T>(reader: Reader<T>, set: (instance: ListedInstance, value: T) => void): Field {
  return (instance, property, reading) => {
    const value = readValue(reader, property, reading)
    if (value !== undefined) set(instance, value)
  }
}
