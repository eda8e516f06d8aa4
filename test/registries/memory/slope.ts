/** @module How fast something grows, by samples of which some are off. */

/**
 * The median of the slopes of all pairs of samples (Theil and Sen): up to a quarter of the samples may be anything.
 * @param step from one sample to the next
 */
export function slopeOf(samples: readonly number[], step: number): number {
  const slopes: number[] = []
  for (let i = 0; i < samples.length; i++) {
    for (let j = i + 1; j < samples.length; j++) {
      slopes.push(((samples[j] as number) - (samples[i] as number)) / ((j - i) * step))
    }
  }
  return medianOf(slopes)
}

/** How far samples are from a line of that slope, mostly. */
export function noiseOf(samples: readonly number[], step: number, slope: number): number {
  const rest = samples.map((sample, i) => sample - slope * i * step)
  const middle = medianOf(rest)
  return medianOf(rest.map((each) => Math.abs(each - middle)))
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2
}
