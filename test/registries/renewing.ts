/** @module A client whose registrations are renewed more often than by default. */

import type { DiscoveryClient, Registrar } from '../../bindings/index.js'

/** @param more options of `register` that are the registry's own */
export function renewing<T extends DiscoveryClient & Registrar>(client: T, more: Record<string, unknown>): T {
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      if (key !== 'register') return value.bind(target)
      const { register } = target
      return (...[instance, options]: Parameters<Registrar['register']>) =>
        register.call(target, instance, { ...more, ...options })
    },
  })
}
