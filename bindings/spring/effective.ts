/** @module What is left of the documents of a file: a list is one value, and a later document's list replaces it whole. */

import { isIndex, relaxedName } from './name.js'
import type { Property, PropertyDocument } from './property.js'

/** In order: of two with one name, the later wins. */
export function effectiveProperties(documents: readonly PropertyDocument[]): readonly Property[] {
  const joined = documents.map(joinLists)
  const kept: Property[][] = []
  const listed = new Set<string>()
  for (const document of [...joined].reverse()) {
    kept.unshift(document.filter((property) => !listed.has(listName(property) ?? '')))
    for (const property of document) listed.add(listName(property) ?? relaxedName(property.elements))
  }
  return kept.flat()
}

/** The name of the list of objects that `orders[0].uri` is a part of. */
function listName({ elements }: Property): string | undefined {
  const index = elements.findIndex(isIndex)
  return index < 0 ? undefined : relaxedName(elements.slice(0, index))
}

/** `codes[0]` and `codes[1]` become one `codes` with commas, which Spring reads alike. */
function joinLists(document: PropertyDocument): Property[] {
  const lists = new Map<string, { at: number; items: [index: number, value: string][] }>()
  const result: Property[] = []
  for (const property of document) {
    const { key, elements, value, line } = property
    const last = elements.at(-1)
    if (last === undefined || !isIndex(last)) {
      result.push(property)
      continue
    }
    const name = relaxedName(elements.slice(0, -1))
    const list = lists.get(name) ?? { at: result.length, items: [] }
    lists.set(name, list)
    list.items.push([Number(last.text), value])
    const text = [...list.items]
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
      .join(',')
    const first = result[list.at]
    result[list.at] = {
      key: key.slice(0, key.lastIndexOf('[')),
      elements: elements.slice(0, -1),
      value: text,
      line: first === undefined ? line : first.line,
    }
  }
  return result
}
