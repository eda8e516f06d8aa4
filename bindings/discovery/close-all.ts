/** @module Closing several clients: one that fails keeps none of the others open. */

import type { DiscoveryClient } from '../types/extension.js'

/** Rejects with the first error when all have been closed or failed to. */
export async function closeAll(clients: readonly DiscoveryClient[]): Promise<void> {
  const ends = await Promise.allSettled(clients.map(async (client) => client.close?.()))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
