/** @module How etcd's gateway writes its messages: proto3's JSON, with what has its default left out. */

import type { Bytes, KeyEvent, KeyValue } from './etcd-store.js'

export type Fields = Record<string, unknown>

/** 64-bit numbers are texts; defaults are not written. */
export function message(fields: Fields): Fields {
  const written = Object.entries(fields).filter(([, value]) => {
    const isDefault = value === undefined || value === false || value === '' || value === 0 || value === '0'
    return !isDefault && !(Array.isArray(value) && value.length === 0)
  })
  return Object.fromEntries(written.map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]))
}

export function keyValueOf(kv: KeyValue, keysOnly = false): Fields {
  return message({
    key: btoa(kv.key),
    create_revision: kv.createRevision,
    mod_revision: kv.modRevision,
    version: kv.version,
    value: keysOnly ? '' : btoa(kv.value),
    lease: kv.lease,
  })
}

export function eventOf({ type, kv, previous }: KeyEvent, withPrevious: boolean): Fields {
  return message({
    type: type === 'DELETE' ? type : undefined,
    kv: type === 'DELETE' ? message({ key: btoa(kv.key), mod_revision: kv.modRevision }) : keyValueOf(kv),
    prev_kv: withPrevious && previous !== undefined ? keyValueOf(previous) : undefined,
  })
}

/** gRPC's codes as HTTP has them. */
const STATUSES: Record<number, number> = { 3: 400, 5: 404, 7: 403, 9: 412, 11: 400, 14: 503, 16: 401 }

export function refusal(code: number, error: string): Response {
  return Response.json({ error, message: error, code }, { status: STATUSES[code] ?? 500 })
}

export class BadJson extends Error {}

export function bytesIn(fields: Fields, name: string): Bytes {
  const value = fields[name] ?? ''
  if (typeof value !== 'string')
    throw new BadJson(`json: cannot unmarshal ${typeof value} into Go value of type []uint8`)
  try {
    return atob(value)
  } catch {
    throw new BadJson('illegal base64 data at input byte 0')
  }
}

/** A number, or the text of one. */
export function int64In(fields: Fields, name: string): number {
  return Number(fields[name] ?? 0)
}

/** The values of a body that has one after the other, with or without anything between. */
export function valuesIn(body: string): Fields[] {
  const values: Fields[] = []
  let [depth, start, isText] = [0, 0, false]
  for (let i = 0; i < body.length; i++) {
    const character = body[i]
    if (isText) {
      if (character === '\\') i++
      else if (character === '"') isText = false
    } else if (character === '"') isText = true
    else if (character === '{' && depth++ === 0) start = i
    else if (character === '}' && --depth === 0) values.push(parsed(body.slice(start, i + 1)))
  }
  if (depth !== 0 || values.length === 0) throw new BadJson('unexpected EOF')
  return values
}

export function parsed(text: string): Fields {
  try {
    return JSON.parse(text)
  } catch {
    throw new BadJson('invalid character')
  }
}
