/** @module Where a call was sent first, for what is decided once a call and not once an attempt. */

import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'

/** Copied along by `{ ...request }`. */
const FIRST = Symbol('evenkeel.first')

interface RepeatedRequest extends PickRequest {
  readonly [FIRST]?: ServiceInstance
}

/** The request of another attempt that need not avoid the first one's instance. */
export function afterFirst(request: PickRequest, instance: ServiceInstance): PickRequest {
  const repeated: RepeatedRequest = { ...request, [FIRST]: instance }
  return repeated
}

/** The instance of the call's first attempt; undefined: this is the first. */
export function firstTried(request: PickRequest): ServiceInstance | undefined {
  return (request as RepeatedRequest)[FIRST] ?? request.previous?.[0]
}
