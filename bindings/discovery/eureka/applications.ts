/** @module Eureka's answers: applications and their instances, where one of a kind may stand without its array. */

import { isObject } from '../../config/check.js'
import { malformed, objectAt } from '../registry/reading.js'

export interface RawInstance {
  /** In upper case. */
  readonly app: string
  readonly raw: Record<string, unknown>
}

export interface Applications {
  /** Of the whole registry, changes or not: `DOWN_1_UP_2_`. Undefined: the server says none. */
  readonly hash: string | undefined
  readonly version: string | undefined
  readonly instances: readonly RawInstance[]
}

/** `{ "applications": … }`. @throws EVENKEEL_DISCOVERY, malformed */
export function applicationsIn(answer: unknown, from: string): Applications {
  const { applications } = objectAt(answer, from)
  const all = objectAt(applications, `${from}: applications`)
  const instances = listAt(all.application, `${from}: application`).flatMap((app) => instancesOf(app, from))
  return { hash: textOf(all.apps__hashcode), version: textOf(all.versions__delta), instances }
}

/** `{ "application": … }`. @throws EVENKEEL_DISCOVERY, malformed */
export function applicationIn(answer: unknown, from: string): readonly RawInstance[] {
  const { application } = objectAt(answer, from)
  return instancesOf(objectAt(application, `${from}: application`), from)
}

function instancesOf(app: Record<string, unknown>, from: string): RawInstance[] {
  return listAt(app.instance, `${from}: instance`).map((raw) => {
    const name = app.name ?? raw.app
    if (typeof name !== 'string' || name === '') malformed(`${from}: the name of an application`, name, 'a text')
    return { app: name.toUpperCase(), raw }
  })
}

/** An array of objects; one object is an array of it, and nothing is an array of nothing. */
function listAt(value: unknown, where: string): readonly Record<string, unknown>[] {
  if (value === undefined || value === null) return []
  if (isObject(value)) return [value]
  if (!Array.isArray(value)) malformed(where, value, 'an array of objects, or one object')
  return value.map((each) => objectAt(each, `one of ${where}`))
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}
