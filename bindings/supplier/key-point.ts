/** @module Where a request's key lies in [0, 1): the same on every runtime and in every client. */

/** `String.hashCode` of the key's text, spread over 32 bits by murmur3's fmix32. */
export function pointOf(key: string | number | bigint): number {
  const text = String(key)
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
