/** @module Property names as Spring reads them: elements between dots, or in brackets where they are kept as they are. */

export interface Element {
  readonly text: string
  /** In brackets: a list index, or a map key that may have dots. */
  readonly bracketed: boolean
}

export function elementsOf(key: string): readonly Element[] {
  return Array.from(key.matchAll(/\[([^\]]*)\]|[^.[]+/g), ([text, inside]) =>
    inside === undefined ? { text, bracketed: false } : { text: inside, bracketed: true },
  )
}

/** `retryOnAllOperations`, `retry-on-all-operations` and `RETRY_ON_ALL_OPERATIONS` are one name. */
export function relaxed(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}

export function relaxedName(elements: readonly Element[]): string {
  return elements.map(({ text }) => relaxed(text)).join('.')
}

/** Elements that are a map's key: with the spelling that they have in the file. */
export function spelled(elements: readonly Element[]): string {
  return elements.map(({ text }) => text).join('.')
}

/** As it has to be written to be read as these elements: in brackets what Spring would drop or split. */
export function written(elements: readonly Element[]): string {
  return elements
    .map(({ text }, i) => (/^[A-Za-z0-9-]+$/.test(text) ? `${i > 0 ? '.' : ''}${text}` : `[${text}]`))
    .join('')
}

export function isIndex({ text, bracketed }: Element): boolean {
  return bracketed && /^\d+$/.test(text)
}

export function child(parent: string, name: string): string {
  return parent === '' || name.startsWith('[') ? parent + name : `${parent}.${name}`
}
