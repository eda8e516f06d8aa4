/** @module `.properties` text, which Spring splits into documents at `#---` lines. */

import { Properties, type PropertiesNode } from 'properties-file/parser'
import { ConfigError } from '../index.js'
import { type Property, type PropertyDocument, property } from './property.js'

/** @throws EVENKEEL_CONFIG for a malformed `\u` escape */
export function propertiesDocuments(text: string): PropertyDocument[] {
  const nodes = nodesOf(text)
  let current: Property[] = []
  const documents = [current]
  for (const [i, node] of nodes.entries()) {
    if (node.type === 'property') current.push(property(node.key, node.value, node.startingLineNumber))
    else if (isSeparator(node) && !isComment(nodes[i - 1]) && !isComment(nodes[i + 1])) {
      current = []
      documents.push(current)
    }
  }
  return documents
}

function nodesOf(text: string): readonly PropertiesNode[] {
  try {
    return new Properties(text).nodes
  } catch (cause) {
    throw new ConfigError(`fromSpring: the text is no .properties file: ${(cause as Error).message}`, { cause })
  }
}

/** A line of comment above or below makes it a part of that comment. */
function isSeparator(node: PropertiesNode): boolean {
  return node.type === 'comment' && node.leadingWhitespace === '' && node.body.trimEnd() === '---'
}

function isComment(node: PropertiesNode | undefined): boolean {
  return node?.type === 'comment'
}
