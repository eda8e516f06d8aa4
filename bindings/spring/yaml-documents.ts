/** @module YAML to properties: what SnakeYAML, a YAML 1.1 parser, and Spring's flattening make of it. */

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { ConfigError } from '../index.js'
import { child } from './name.js'
import { type Property, type PropertyDocument, property } from './property.js'

/** Aliases of aliases grow without end; no configuration does. */
const MOST_PROPERTIES = 20_000
const DEEPEST = 64

/** @throws EVENKEEL_CONFIG with the place that is no YAML */
export function yamlDocuments(text: string): PropertyDocument[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {
    version: '1.1',
    lineCounter: lines,
    // Spring reads dates as text.
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !tag.tag.endsWith(':timestamp')),
  })
  if (!Array.isArray(documents)) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error !== undefined) refuse(error.message, error)
    const found: Property[] = []
    flatten(document.contents, '', undefined, 0)
    return found

    function flatten(node: unknown, key: string, line: number | undefined, depth: number): void {
      if (depth > DEEPEST || found.length > MOST_PROPERTIES) {
        throw new ConfigError(`fromSpring: the YAML is too deep or too large at ${key}`, { option: key })
      }
      if (isAlias(node)) {
        flatten(node.resolve(document) ?? refuse(`nothing is called &${node.source}`), key, line, depth + 1)
      } else if (isMap(node) && node.items.length > 0) {
        for (const { key: name, value } of mergedPairs(node, document, depth)) {
          flatten(value, child(key, nameOf(name)), lineOf(name) ?? line, depth + 1)
        }
      } else if (isSeq(node) && node.items.length > 0) {
        for (const [i, item] of node.items.entries()) flatten(item, `${key}[${i}]`, lineOf(item) ?? line, depth + 1)
      } else if (key !== '') {
        found.push(property(key, isScalar(node) ? textOf(node) : '', line))
      }
    }
  })

  function lineOf(node: unknown): number | undefined {
    const range = isScalar(node) || isMap(node) || isSeq(node) ? node.range : undefined
    return range ? lines.linePos(range[0]).line : undefined
  }
}

function refuse(why: string, cause?: unknown): never {
  throw new ConfigError(`fromSpring: the text is no YAML: ${why}`, { cause })
}

/** With what `<<` brings, unless the same stands beside it, or comes from a map that is named before. */
function mergedPairs(map: YAMLMap, document: Document, depth: number): readonly Pair[] {
  if (depth > DEEPEST) return []
  const pairs = new Map(map.items.filter((pair) => !isMerge(pair)).map((pair) => [nameOf(pair.key), pair]))
  for (const { value } of map.items.filter(isMerge)) {
    for (const each of isSeq(value) ? value.items : [value]) {
      const brought = isAlias(each) ? each.resolve(document) : each
      if (!isMap(brought)) continue
      for (const pair of mergedPairs(brought, document, depth + 1)) {
        const name = nameOf(pair.key)
        if (!pairs.has(name)) pairs.set(name, pair)
      }
    }
  }
  return [...pairs.values()]
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.source === '<<' && key.type === 'PLAIN'
}

function nameOf(key: unknown): string {
  if (!isScalar(key)) return String(key)
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

/** Of YAML 1.1: octal, hexadecimal, binary and base 60 too. */
const INTEGER = /^[-+]?(0x[\da-f_]+|0b[01_]+|[\d_]+(:[\d_]+)*)$/i

/** A scalar as Java's `String.valueOf` shows what SnakeYAML made of it: `on` is true, `010` is 8, `2.10` is 2.1. */
function textOf({ value, source = '' }: Scalar): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean' && source.length > 1) return String(value)
  if (typeof value !== 'number') return typeof value === 'string' ? value : source
  if (INTEGER.test(source)) return String(value)
  if (!source.includes('.')) return source
  return Number.isInteger(value) ? value.toFixed(1) : String(value)
}
