/** Finagle's deterministic aperture in floating point, as it is described: what a client sees of each place of the ring. */
export function apertureWeights(clients: number, id: number, servers: number, least: number): number[] {
  const width = Math.min(1, Math.ceil(((least * clients) / servers) * (1 - 1e-12)) / clients)
  const overlap = (from: number, to: number, a: number, b: number) => Math.max(0, Math.min(to, b) - Math.max(from, a))
  const from = id / clients
  return Array.from({ length: servers }, (_, i) => {
    const [a, b] = [i / servers, (i + 1) / servers]
    return (overlap(from, from + width, a, b) + overlap(from, from + width, a + 1, b + 1)) * servers
  })
}
