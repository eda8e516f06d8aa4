/** @module Which objects a piece of code allocates, by V8's sampling heap profiler set to sample every one. */

import { type HeapProfiler, Session } from 'node:inspector/promises'

/**
 * The sizes in bytes of what `work` allocates. Optimised code may allocate several objects in one go: they then count as
 * one, with the sum of their sizes.
 */
export async function allocationsOf(work: () => void): Promise<readonly number[]> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 1,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  } as HeapProfiler.StartSamplingParameterType)
  work()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  return (profile as unknown as { samples: readonly { size: number }[] }).samples.map(({ size }) => size)
}
