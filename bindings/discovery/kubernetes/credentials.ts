/** @module The bearer token that goes with a request: given, asked for, or read from the service account's file. */

import { DiscoveryError } from '../../errors.js'
import { waitFor } from '../../runtime/wait.js'
import { messageOf } from '../message-of.js'
import { readAccountFile } from './in-cluster.js'
import type { TokenSource } from './options.js'

/** Kubernetes replaces the file's token long before the old one ends, and asks that it be read at least so often. */
const READ_AGAIN_MS = 60_000

export interface Credentials {
  /** Undefined: none is sent. @throws EVENKEEL_DISCOVERY, the signal's reason */
  token(signal: AbortSignal): Promise<string | undefined>
  /** The token was refused: the next one is not to be an old one. */
  refused(): void
}

export const NO_CREDENTIALS: Credentials = { token: async () => undefined, refused() {} }

export function givenToken(source: TokenSource, timeoutMs: number): Credentials {
  return {
    async token(signal) {
      if (typeof source === 'string') return source.trim()
      const token = await answerOf(source, signal, timeoutMs)
      if (typeof token === 'string' && token.trim() !== '') return token.trim()
      throw new DiscoveryError('kubernetes: token() returned no token')
    },
    refused() {},
  }
}

async function answerOf(source: () => unknown, signal: AbortSignal, timeoutMs: number): Promise<unknown> {
  try {
    return await waitFor((async () => source())(), { signal, timeoutMs }, 'token()')
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new DiscoveryError(`kubernetes: token() failed: ${messageOf(cause)}`, { cause })
  }
}

export function mountedToken(folder: string, clock: () => number): Credentials {
  let read: { token: string; atMs: number } | undefined
  let isRefused = false
  return {
    async token() {
      const nowMs = clock()
      if (read !== undefined && !isRefused && nowMs - read.atMs < READ_AGAIN_MS) return read.token
      try {
        const token = await readAccountFile(folder, 'token')
        read = { token, atMs: nowMs }
        isRefused = false
      } catch (error) {
        // The old one may still be good.
        if (read === undefined) throw error
      }
      return read.token
    },
    refused() {
      isRefused = true
    },
  }
}
