/** @module What etcd says when it says no. Statuses are too few to tell it, and watches have none. */

import { DiscoveryError } from '../../errors.js'

/** A token that has expired, or that was made before users were changed; no token since authentication is on. */
export function isStaleToken(said: string): boolean {
  return /invalid auth token|revision of auth store is old|user name is empty/.test(said)
}

export function deniedBy(said: string): boolean {
  return isStaleToken(said) || /permission denied|authentication failed/.test(said)
}

export function isAuthOff(error: unknown): boolean {
  return error instanceof DiscoveryError && /authentication is not enabled/.test(error.message)
}

/** The lease has expired, or was revoked. */
export function isLeaseGone(error: unknown): boolean {
  return error instanceof DiscoveryError && /requested lease not found/.test(error.message)
}
