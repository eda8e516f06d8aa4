/** @module Versions of one to three numbers, and the ranges of them that an instance serves. */

export type SemanticVersion = readonly [major: number, minor: number, patch: number]

/** Both ends are in it; without an upper one it has no end. */
export interface VersionRange {
  readonly from: SemanticVersion
  readonly to: SemanticVersion | undefined
}

const VERSION = String.raw`\D*\d+(?:\.\d+){0,2}`
const WHOLE = /^\D*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/
const BETWEEN = new RegExp(String.raw`^(${VERSION})\s*-\s*(${VERSION})$`)
const FROM = new RegExp(String.raw`^(${VERSION})\s*\+$`)
const MOST = 2 ** 31 - 1

/**
 * `1`, `1.2`, `v1.2.3`: what is no digit before the first one is skipped, missing parts are 0; undefined: no version.
 * @see Spring Framework 7.0 SemanticApiVersionParser, whose parts are Java ints
 */
export function versionOf(text: string): SemanticVersion | undefined {
  const [, ...parts] = WHOLE.exec(text) ?? []
  if (parts.length === 0) return undefined
  const [major = 0, minor = 0, patch = 0] = parts.map((part) => Number(part ?? 0))
  return Math.max(major, minor, patch) <= MOST ? [major, minor, patch] : undefined
}

/**
 * The parts of a text such as `1,3`, `2+`, `1 - 2.5`; undefined for each that can't be read.
 * Missing parts of an upper end are 0 too: 3.1 is not in `1-3`.
 */
export function rangesOf(text: string): (VersionRange | undefined)[] {
  return text.split(',').map((part) => rangeOf(part.trim()))
}

function rangeOf(text: string): VersionRange | undefined {
  const [, low, high] = BETWEEN.exec(text) ?? FROM.exec(text) ?? [text, text, text]
  const from = versionOf(low as string)
  const to = high === undefined ? undefined : versionOf(high)
  const isReadable = from !== undefined && (high === undefined || (to !== undefined && compare(from, to) <= 0))
  return isReadable ? { from, to } : undefined
}

export function isWithin(version: SemanticVersion, { from, to }: VersionRange): boolean {
  return compare(from, version) <= 0 && (to === undefined || compare(version, to) <= 0)
}

function compare(a: SemanticVersion, b: SemanticVersion): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
}
