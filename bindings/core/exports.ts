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
  hashBytes(bytes: Pointer, length: number, seed: number, hash: Pointer): void

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
  startRequest(block: Pointer, row: number, nowMs: number): number
  endRequest(block: Pointer, row: number, nowMs: number, ms: number, verdict: number): number
  trippedUntil(block: Pointer, row: number): number
  isTripped(block: Pointer, row: number, nowMs: number): number
  activeRequests(block: Pointer, row: number, nowMs: number): number
  failuresInWindow(block: Pointer, row: number, nowMs: number): number
  requestsInWindow(block: Pointer, row: number, nowMs: number): number
  meanResponseMs(block: Pointer, row: number): number

  /** Room for every row's window of traffic; `sampleWindows`: each row's every so-manyth outcome is recorded. */
  openWindows(block: Pointer): void
  sampleWindows(block: Pointer, every: number): void
  recordInWindow(block: Pointer, row: number, nowMs: number, ms: number, failed: number): void

  openPaces(block: Pointer): void
  startPaced(block: Pointer, row: number, nowMs: number): void
  endPaced(
    block: Pointer,
    row: number,
    nowMs: number,
    ms: number,
    failed: number,
    halfLifeMs: number,
    minVolume: number,
  ): void

  /** The list's next pick in turn follows the service's last, of whichever list that was. */
  forgetPlace(list: Pointer): void
  pickRoundRobin(block: Pointer, list: Pointer): number
  leaseRoundRobin(block: Pointer, list: Pointer): number
  pickRandom(block: Pointer, list: Pointer): number
  leaseRandom(block: Pointer, list: Pointer): number
  pickLeastRequest(block: Pointer, list: Pointer, choices: number): number
  leaseLeastRequest(block: Pointer, list: Pointer, choices: number): number
  pickPeakEwma(block: Pointer, list: Pointer, nowMs: number, decayMs: number, defaultRttMs: number): number
  leasePeakEwma(block: Pointer, list: Pointer, nowMs: number, decayMs: number, defaultRttMs: number): number
  pickDynamicWeight(block: Pointer, list: Pointer, nowMs: number, updateMs: number): number
  pickRelativeWeight(block: Pointer, list: Pointer, nowMs: number, halfLifeMs: number, minVolume: number): number

  /** Where a key of up to `bytes` bytes is put before a pick by key. */
  keyBuffer(bytes: number): Pointer
  /** `identities` as assembly/identities.ts draws them; the caller frees them. */
  buildRing(block: Pointer, list: Pointer, identities: Pointer, points: number, most: number): void
  buildSizedRing(block: Pointer, list: Pointer, identities: Pointer, least: number, most: number): void
  buildMaglev(block: Pointer, list: Pointer, identities: Pointer, size: number): void
  buildRendezvous(block: Pointer, list: Pointer, identities: Pointer): void
  buildJump(block: Pointer, list: Pointer, identities: Pointer): void
  /** `keyLength` in bytes, below 0: no key. `loadFactor` in thousandths, 0: none. NO_PLAN: the list is not prepared. */
  pickRing(block: Pointer, list: Pointer, keyLength: number, loadFactor: number): number
  leaseRing(block: Pointer, list: Pointer, keyLength: number, loadFactor: number): number
  pickMaglev(block: Pointer, list: Pointer, keyLength: number, loadFactor: number): number
  leaseMaglev(block: Pointer, list: Pointer, keyLength: number, loadFactor: number): number
  pickRendezvous(block: Pointer, list: Pointer, keyLength: number, loadFactor: number): number
  leaseRendezvous(block: Pointer, list: Pointer, keyLength: number, loadFactor: number): number
  pickJump(block: Pointer, list: Pointer, keyLength: number): number
  leaseJump(block: Pointer, list: Pointer, keyLength: number): number
  jumpBucket(key: Pointer, buckets: number): number
  ln(x: number): number
  pickSmooth(block: Pointer, list: Pointer): number
  pickEdf(block: Pointer, list: Pointer, bias: number): number
  pickStride(block: Pointer, list: Pointer): number
  pickLeastRequestEnvoy(block: Pointer, list: Pointer, choices: number, bias: number): number
  pickLeastConnections(block: Pointer, list: Pointer): number
  pickLeastResponseTime(block: Pointer, list: Pointer, nowMs: number, decayMs: number, defaultRttMs: number): number

  /** Ribbon's rules; `flags` are those of assembly/ribbon-flags.ts. */
  pickInTurn(block: Pointer, list: Pointer, flags: number): number
  pickRandomUp(block: Pointer, list: Pointer): number
  pickBestAvailable(block: Pointer, list: Pointer, nowMs: number, flags: number): number
  isAvailable(block: Pointer, row: number, nowMs: number, limit: number, filterTripped: number): number
  pickAvailable(
    block: Pointer,
    list: Pointer,
    nowMs: number,
    limit: number,
    filterTripped: number,
    flags: number,
  ): number
  turnAmong(block: Pointer, count: number, flags: number): number
  openRecent(block: Pointer): void
  noteRecent(block: Pointer, row: number, nowMs: number, halfMs: number, ms: number): void
  openPublishedWeights(block: Pointer): void
  ownerByResponseTime(list: Pointer, point: number, flags: number): number
  pickByResponseTime(
    block: Pointer,
    list: Pointer,
    whole: Pointer,
    nowMs: number,
    updateMs: number,
    halfMs: number,
    formula: number,
    flags: number,
  ): number
  createZones(whole: Pointer, column: Pointer, count: number): Pointer
  availableZones(
    zones: Pointer,
    triggeringLoad: number,
    avoidAboveTripped: number,
    flags: number,
    place: number,
  ): number
  judgeZones(
    block: Pointer,
    zones: Pointer,
    nowMs: number,
    triggeringLoad: number,
    avoidAboveTripped: number,
    flags: number,
  ): void
  isZoneOpenNow(
    block: Pointer,
    zones: Pointer,
    list: Pointer,
    index: number,
    triggeringLoad: number,
    avoidAboveTripped: number,
    flags: number,
  ): number
  pickZoneAvoiding(
    block: Pointer,
    list: Pointer,
    zones: Pointer,
    nowMs: number,
    triggeringLoad: number,
    avoidAboveTripped: number,
    limit: number,
    filterTripped: number,
    flags: number,
  ): number
  drawZone(
    block: Pointer,
    zones: Pointer,
    nowMs: number,
    triggeringLoad: number,
    avoidAboveTripped: number,
    flags: number,
  ): number
  openZoneAtPlace(zones: Pointer, place: number): number
  reserveZoneTurns(block: Pointer, slots: number): void
  beginZoneTurns(block: Pointer, slot: number, start: number): void
  exchangeTurns(block: Pointer, slot: number): void

  hashCode(units: Pointer, length: number): number
  setRandomSeed(seed: number): void
  nextInt(bound: number): number
  shuffle(items: Pointer, length: number, seed: number): void
  expNegative(x: number): number
}
