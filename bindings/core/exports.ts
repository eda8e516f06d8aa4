/** @module The exports of the core, typed. Pointers are plain numbers; assembly/layout.ts draws what they point to. */

export type Pointer = number

export interface CoreExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  abiVersion(): number
  allocate(bytes: number): Pointer
  release(pointer: Pointer): void
  empty(block: Pointer, list: Pointer): number

  createBlock(): Pointer
  freeBlock(block: Pointer): void
  reserveRows(block: Pointer, capacity: number): void
  resetRow(block: Pointer, row: number): void
  seedBlock(block: Pointer, nameHash: number, seed: number): void
  startAt(block: Pointer, start: number): void
  nextF64(block: Pointer): number

  createList(length: number): Pointer
  createCut(length: number): Pointer
  freeList(list: Pointer): void
  weighList(block: Pointer, list: Pointer, order: number): void
  createColumn(length: number): Pointer
  matchBits(column: Pointer, length: number, value: number, bits: Pointer): number
  cutMatching(list: Pointer, column: Pointer, value: number): Pointer
  cutSubset(list: Pointer, idHash: number, size: number): Pointer

  acquire(block: Pointer, list: Pointer, index: number): number
  acquireRow(block: Pointer, row: number): void
  complete(block: Pointer, row: number, ended: number): void
  completeAfter(
    block: Pointer,
    row: number,
    ended: number,
    ms: number,
    averagedMs: number,
    nowMs: number,
    decayMs: number,
    peak: number,
  ): void
  quantile(block: Pointer, row: number, q: number): number

  /** Until `includeAll`, policies that go by a key pass this row over. */
  exclude(row: number): void
  includeAll(): void

  openServerStats(
    block: Pointer,
    threshold: number,
    factorMs: number,
    mostMs: number,
    activeExpiryMs: number,
    failureWindowMs: number,
    requestWindowMs: number,
  ): void
  startRequest(block: Pointer, row: number, nowMs: number): void
  endRequest(block: Pointer, row: number, nowMs: number, ms: number, verdict: number): void
  trippedUntil(block: Pointer, row: number): number
  isTripped(block: Pointer, row: number, nowMs: number): number
  activeRequests(block: Pointer, row: number, nowMs: number): number
  meanResponseMs(block: Pointer, row: number): number

  pickRoundRobin(block: Pointer, list: Pointer): number
  leaseRoundRobin(block: Pointer, list: Pointer): number
  pickRandom(block: Pointer, list: Pointer): number
  leaseRandom(block: Pointer, list: Pointer): number
  pickLeastRequest(block: Pointer, list: Pointer, choices: number): number
  leaseLeastRequest(block: Pointer, list: Pointer, choices: number): number
  pickPeakEwma(block: Pointer, list: Pointer, nowMs: number, decayMs: number, defaultRttMs: number): number
  leasePeakEwma(block: Pointer, list: Pointer, nowMs: number, decayMs: number, defaultRttMs: number): number

  hashCode(units: Pointer, length: number): number
  setRandomSeed(seed: number): void
  nextInt(bound: number): number
  shuffle(items: Pointer, length: number, seed: number): void
  expNegative(x: number): number
}
