/** @module Eureka's answers as XML, which whoever does not ask for JSON is sent. */

/** Attributes begin with @, and `$` is the text of an element, as in Eureka's JSON. */
export function applicationsXml(value: Record<string, unknown>): string {
  const [[name, content] = ['none', '']] = Object.entries(value)
  return `<?xml version="1.0"?>${element(name, content)}`
}

function element(name: string, content: unknown): string {
  if (Array.isArray(content)) return content.map((each) => element(name, each)).join('')
  if (typeof content !== 'object' || content === null) return `<${name}>${escaped(content)}</${name}>`
  const entries = Object.entries(content)
  const attributes = entries
    .filter(([key]) => key.startsWith('@'))
    .map(([key, each]) => ` ${key.slice(1)}="${escaped(each)}"`)
  const inner = entries.filter(([key]) => !key.startsWith('@'))
  const text = inner.map(([key, each]) => (key === '$' ? escaped(each) : element(key, each))).join('')
  return `<${name}${attributes.join('')}>${text}</${name}>`
}

function escaped(value: unknown): string {
  return String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
