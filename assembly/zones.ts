import { filterAvailable, filterNothing, isAvailable, mayBeChosen } from './availability'
import { beginFilter, eligibleAt, eligibleCount, letThrough } from './eligible'
import { turnAmong } from './in-turn'
import { lengthOf, positionAt, rowAt } from './list'
import { below } from './prng'
import { RIBBON_DRAW_PER_SERVER, RIBBON_DROPS_GOOD } from './ribbon-flags'
import { activeRequests, isTripped } from './server-stats'

/**
 * Ribbon's snapshot of the zones of a whole list (LoadBalancerStats), by the interned column of zones: 0 is no zone,
 * the others are counted from 1 in the order in which the list first names them. The list and the column are the
 * caller's and outlive this.
 *
 *    0       4          8        12            16
 *    ┌───────┬──────────┬────────┬─────────────┬────────────────┐
 *    │ count │ open     │ list   │ column      │ zones, 32 each │
 *    │ i32   │ i32      │ ptr    │ ptr         │                │
 *    └───────┴──────────┴────────┴─────────────┴────────────────┘
 *
 * Zone: what it has now, whether it is to be used, and in which round it was among the most loaded.
 *
 *    0           4         8              16             24       28       32
 *    ┌───────────┬─────────┬──────────────┬──────────────┬────────┬────────┐
 *    │ instances │ tripped │ active       │ load         │ open   │ worst  │
 *    │ i32       │ i32     │ f64          │ f64          │ 0/1    │ i32    │
 *    └───────────┴─────────┴──────────────┴──────────────┴────────┴────────┘
 *
 * `load` is the requests in flight at those that are not tripped, for each of these; −1 if all are tripped.
 */
const COUNT: usize = 0
const OPEN_COUNT: usize = 4
const WHOLE: usize = 8
const COLUMN: usize = 12
const ZONES: usize = 16

const ZONE_BYTES: usize = 32
const INSTANCES: usize = 0
const TRIPPED: usize = 4
const ACTIVE: usize = 8
const LOAD: usize = 16
const OPEN: usize = 24
const WORST: usize = 28

/** Loads that differ by less are the same to Ribbon. */
const SAME: f64 = 0.000001

/** One allocation, which `release` frees. @param count how many zones the column names */
export function createZones(whole: usize, column: usize, count: i32): usize {
  const bytes = ZONES + usize(count) * ZONE_BYTES
  const zones = heap.alloc(bytes)
  memory.fill(zones, 0, bytes)
  store<i32>(zones, count, COUNT)
  store<usize>(zones, whole, WHOLE)
  store<usize>(zones, column, COLUMN)
  return zones
}

function zoneAt(zones: usize, zone: i32): usize {
  assert(u32(zone - 1) < u32(load<i32>(zones, COUNT)))
  return zones + ZONES + usize(zone - 1) * ZONE_BYTES
}

function zoneOf(zones: usize, list: usize, index: i32): i32 {
  return load<i32>(load<usize>(zones, COLUMN) + (usize(positionAt(list, index)) << 2))
}

/** Counts who is in each zone, who of them is tripped, and their requests in flight: O(list). */
function takeSnapshot(block: usize, zones: usize, nowMs: f64): void {
  const count = load<i32>(zones, COUNT)
  const list = load<usize>(zones, WHOLE)
  memory.fill(zones + ZONES, 0, usize(count) * ZONE_BYTES)
  for (let index = 0, length = lengthOf(list); index < length; index++) {
    const id = zoneOf(zones, list, index)
    if (id === 0) continue
    const zone = zoneAt(zones, id)
    const row = rowAt(list, index)
    const active = f64(activeRequests(block, row, nowMs))
    store<i32>(zone, load<i32>(zone, INSTANCES) + 1, INSTANCES)
    store<f64>(zone, load<f64>(zone, ACTIVE) + active, ACTIVE)
    if (isTripped(block, row, nowMs)) store<i32>(zone, load<i32>(zone, TRIPPED) + 1, TRIPPED)
    else store<f64>(zone, load<f64>(zone, LOAD) + active, LOAD)
  }
  for (let id = 1; id <= count; id++) {
    const zone = zoneAt(zones, id)
    const healthy = load<i32>(zone, INSTANCES) - load<i32>(zone, TRIPPED)
    if (healthy > 0) store<f64>(zone, load<f64>(zone, LOAD) / f64(healthy), LOAD)
    else if (load<i32>(zone, INSTANCES) > 0) store<f64>(zone, -1, LOAD)
  }
}

/**
 * ZoneAvoidanceRule.getAvailableZones, up to its draw: opens the zones of a snapshot that can be used. How many
 * instances the zones have of which one is to be left out; 0: none is.
 */
function openZones(zones: usize, triggeringLoad: f64, avoidAboveTripped: f64, flags: i32): i32 {
  const count = load<i32>(zones, COUNT)
  let open = 0
  let mostLoad: f64 = 0
  let round = 1
  let limited = false
  for (let id = 1; id <= count; id++) {
    const zone = zoneAt(zones, id)
    const instances = load<i32>(zone, INSTANCES)
    const zoneLoad = load<f64>(zone, LOAD)
    store<i32>(zone, 0, WORST)
    if (
      count > 1 &&
      (instances === 0 || zoneLoad < 0 || f64(load<i32>(zone, TRIPPED)) / f64(instances) >= avoidAboveTripped)
    ) {
      store<i32>(zone, 0, OPEN)
      limited = true
      continue
    }
    store<i32>(zone, 1, OPEN)
    open++
    if (abs(zoneLoad - mostLoad) >= SAME) {
      if (zoneLoad < mostLoad) continue
      mostLoad = zoneLoad
      round++
    }
    store<i32>(zone, round, WORST)
  }
  store<i32>(zones, open, OPEN_COUNT)
  if (count < 2 || (mostLoad < triggeringLoad && !limited)) return 0
  if ((flags & RIBBON_DROPS_GOOD) === 0 && (mostLoad < SAME || open < 2)) return 0
  return keepWorstOf(zones, round)
}

/** Only the zones of the last round are the most loaded ones: marks them with 1, and counts their instances. */
function keepWorstOf(zones: usize, round: i32): i32 {
  let sum = 0
  for (let id = 1, count = load<i32>(zones, COUNT); id <= count; id++) {
    const zone = zoneAt(zones, id)
    const worst = load<i32>(zone, WORST) === round
    store<i32>(zone, i32(worst), WORST)
    if (worst) sum += load<i32>(zone, INSTANCES)
  }
  return sum
}

/** randomChooseZone: the first zone with this mark at which the running sum of instances reaches `place`, from 1. */
function zoneAtPlace(zones: usize, mark: usize, place: i32): i32 {
  let sum = 0
  for (let id = 1, count = load<i32>(zones, COUNT); id <= count; id++) {
    const zone = zoneAt(zones, id)
    if (load<i32>(zone + mark) === 0) continue
    sum += load<i32>(zone, INSTANCES)
    if (sum >= place) return id
  }
  return 0
}

function closeZone(zones: usize, id: i32): void {
  store<i32>(zoneAt(zones, id), 0, OPEN)
  store<i32>(zones, load<i32>(zones, OPEN_COUNT) - 1, OPEN_COUNT)
}

/**
 * getAvailableZones of the snapshot at hand with a draw of the caller's: `place`, from 1, among the instances of the
 * most loaded zones. How many zones are left.
 */
export function availableZones(zones: usize, triggeringLoad: f64, avoidAboveTripped: f64, flags: i32, place: i32): i32 {
  const sum = openZones(zones, triggeringLoad, avoidAboveTripped, flags)
  if (sum > 0) closeZone(zones, zoneAtPlace(zones, WORST, min(place, sum)))
  return load<i32>(zones, OPEN_COUNT)
}

function drawAvailable(block: usize, zones: usize, triggeringLoad: f64, avoidAboveTripped: f64, flags: i32): void {
  const sum = openZones(zones, triggeringLoad, avoidAboveTripped, flags)
  if (sum > 0) closeZone(zones, zoneAtPlace(zones, WORST, 1 + i32(below(block, u32(sum)))))
}

/** Takes the snapshot and works out which zones can be used, for `isZoneOpen`. */
export function judgeZones(
  block: usize,
  zones: usize,
  nowMs: f64,
  triggeringLoad: f64,
  avoidAboveTripped: f64,
  flags: i32,
): void {
  takeSnapshot(block, zones, nowMs)
  drawAvailable(block, zones, triggeringLoad, avoidAboveTripped, flags)
}

/** ZoneAvoidancePredicate: the candidate has no zone, there is only one, or its zone can be used. */
function isZoneOpen(zones: usize, list: usize, index: i32): bool {
  const zone = zoneOf(zones, list, index)
  return zone === 0 || load<i32>(zones, COUNT) < 2 || load<i32>(zoneAt(zones, zone), OPEN) !== 0
}

/** As `isZoneOpen`, where Ribbon draws anew for every server. */
export function isZoneOpenNow(
  block: usize,
  zones: usize,
  list: usize,
  index: i32,
  triggeringLoad: f64,
  avoidAboveTripped: f64,
  flags: i32,
): bool {
  if (flags & RIBBON_DRAW_PER_SERVER) drawAvailable(block, zones, triggeringLoad, avoidAboveTripped, flags)
  return isZoneOpen(zones, list, index)
}

/**
 * ZoneAvoidanceRule: in turn among those that are available in a zone that can be used; if there are none among those
 * available; else among all.
 */
export function pickZoneAvoiding(
  block: usize,
  list: usize,
  zones: usize,
  nowMs: f64,
  triggeringLoad: f64,
  avoidAboveTripped: f64,
  limit: i32,
  filterTripped: i32,
  flags: i32,
): i32 {
  const length = lengthOf(list)
  judgeZones(block, zones, nowMs, triggeringLoad, avoidAboveTripped, flags)
  beginFilter(length)
  for (let index = 0; index < length; index++) {
    if (!mayBeChosen(block, list, index, flags)) continue
    if (!isZoneOpenNow(block, zones, list, index, triggeringLoad, avoidAboveTripped, flags)) continue
    if (isAvailable(block, rowAt(list, index), nowMs, limit, filterTripped)) letThrough(index)
  }
  if (eligibleCount() === 0) filterAvailable(block, list, nowMs, limit, filterTripped, flags)
  if (eligibleCount() === 0) filterNothing(block, list, flags)
  return eligibleAt(turnAmong(block, eligibleCount(), flags))
}

/**
 * ZoneAwareLoadBalancer: if some zone can't be used, one of the others, drawn by its number of instances; 0: all can,
 * or none.
 */
export function drawZone(
  block: usize,
  zones: usize,
  nowMs: f64,
  triggeringLoad: f64,
  avoidAboveTripped: f64,
  flags: i32,
): i32 {
  const count = load<i32>(zones, COUNT)
  if (count < 2) return 0
  judgeZones(block, zones, nowMs, triggeringLoad, avoidAboveTripped, flags)
  if (load<i32>(zones, OPEN_COUNT) === count) return 0
  let sum = 0
  for (let id = 1; id <= count; id++) {
    const zone = zoneAt(zones, id)
    if (load<i32>(zone, OPEN)) sum += load<i32>(zone, INSTANCES)
  }
  return sum === 0 ? 0 : openZoneAtPlace(zones, 1 + i32(below(block, u32(sum))))
}

/**
 * randomChooseZone with a draw of the caller's: the zone that `place`, from 1, among the instances of the zones that can
 * be used falls to; 0: none.
 */
export function openZoneAtPlace(zones: usize, place: i32): i32 {
  return zoneAtPlace(zones, OPEN, place)
}
