/** @module Which port of a slice is called. */

import { DiscoveryError } from '../../errors.js'
import type { Slice, SlicePort } from './slice.js'

export interface ChosenPort {
  readonly number: number
  readonly secure: boolean
}

/**
 * @param wanted its name or number; undefined: the only one. A number is called too where the slice names no ports,
 * or one that may be any.
 * @throws EVENKEEL_DISCOVERY, malformed, that names the ports there are
 */
export function portOf({ name, ports, labels }: Slice, wanted: string | number | undefined): ChosenPort {
  const refuse = (what: string): never => {
    throw new DiscoveryError(`slice ${name} has ${what}`, { failure: 'malformed' })
  }
  const callable = ports.filter(({ protocol }) => protocol === 'TCP')
  const there = callable.length === 0 ? 'no TCP ports' : `the ports ${callable.map(shown).join(', ')}`
  const chosen = (port: SlicePort | undefined, number: number | undefined): ChosenPort => {
    if (number === undefined) return refuse(`${there}: choose a number by the option port`)
    return { number, secure: isSecure(port, labels) }
  }
  if (wanted === undefined) {
    const [port] = callable
    if (callable.length > 1) return refuse(`${there}: choose one by the option port`)
    return chosen(port, port?.number)
  }
  const number = /^\d+$/.test(String(wanted)) ? Number(wanted) : undefined
  if (number === undefined) {
    const port = callable.find((each) => each.name === wanted)
    return port === undefined ? refuse(`${there}, and none is called "${wanted}"`) : chosen(port, port.number)
  }
  const port = callable.find((each) => each.number === number) ?? callable.find((each) => each.number === undefined)
  if (port === undefined && callable.length > 0) return refuse(`${there}, and none is ${number}`)
  return chosen(port, number)
}

function shown({ name, number }: SlicePort): string {
  const value = number === undefined ? 'any' : String(number)
  return name === '' ? value : `${name} (${value})`
}

/** By what KEP-1422 calls the protocol, by the name that one goes by, or by Spring's label of the service. */
function isSecure(port: SlicePort | undefined, labels: Slice['labels']): boolean {
  const { name = '', appProtocol = '' } = port ?? {}
  if (appProtocol !== '') return appProtocol.toLowerCase() === 'https'
  return name === 'https' || name.startsWith('https-') || /^(?:true|on|yes|1)$/.test(labels.secured ?? '')
}
