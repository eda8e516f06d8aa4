/**
 * @module `Buffer` for the package dns-packet, which the build gives this file for 'buffer'. Nothing is imported, so that
 * bundles for browsers stay whole: where it is missing there are no sockets either.
 */

type Process = { getBuiltinModule?: (id: string) => unknown } | undefined

const { process } = globalThis as { process?: Process }

export const { Buffer } = (process?.getBuiltinModule?.('node:buffer') ?? {}) as typeof import('node:buffer')
