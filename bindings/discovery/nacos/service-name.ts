/** @module Names of services: in a group, which the name itself may say. */

export interface ServiceName {
  readonly group: string
  readonly name: string
  /** Both, as the first API takes them. */
  readonly grouped: string
}

/** Reads `name`, which is in `group`, or `GROUP@@name`. */
export function serviceNameOf(serviceId: string, group: string): ServiceName {
  const at = serviceId.indexOf('@@')
  if (at < 0) return { group, name: serviceId, grouped: `${group}@@${serviceId}` }
  return { group: serviceId.slice(0, at), name: serviceId.slice(at + 2), grouped: serviceId }
}
