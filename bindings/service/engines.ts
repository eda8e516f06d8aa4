/** @module The built-in policies at work in one service, and what they have the core record. */

import type { Core } from '../core/core.js'
import type { CoreExports, Pointer } from '../core/exports.js'
import { type Engine, type EngineContext, engineOf } from '../policy/engine.js'
import type { Ended, Recorder } from '../policy/recorder.js'
import type { Policy } from '../types/extension.js'
import type { PickRequest } from '../types/request.js'
import type { CandidateList } from './candidates.js'

export class Engines {
  /** What is recorded of every lease. */
  readonly recorders: Recorder[] = []
  /** One that was asked for goes by open breakers, or by zones. */
  breakers = false
  zones = false
  readonly context: EngineContext
  readonly #core: Core
  readonly #block: Pointer
  readonly #own: readonly Recorder[]
  readonly #engines = new WeakMap<Policy, Engine | undefined>()

  /** @param own what the service itself would have recorded, each in place of any other of its name */
  constructor(core: Core, block: Pointer, context: EngineContext, own: readonly Recorder[]) {
    this.#core = core
    this.#block = block
    this.context = context
    this.#own = own
  }

  /** How the policy works here; undefined: it is one of the user's own. */
  of(policy: Policy): Engine | undefined {
    if (this.#engines.has(policy)) return this.#engines.get(policy)
    const engine = engineOf(policy, this.context)
    this.#engines.set(policy, engine)
    if (engine?.breakers) this.breakers = true
    if (engine?.zones) this.zones = true
    for (const recorder of engine?.recorders ?? []) this.record(recorder)
    return engine
  }

  /** From now on, unless it is recorded already. */
  record(asked: Recorder): void {
    if (this.recorders.some(({ name }) => name === asked.name)) return
    const recorder = this.#own.find(({ name }) => name === asked.name) ?? asked
    recorder.open(this.#core.exports, this.#block)
    this.recorders.push(recorder)
  }

  /** The engine's pick from a list, which is prepared for it if need be. */
  pick(
    engine: Engine,
    exports: CoreExports,
    block: Pointer,
    list: CandidateList,
    nowMs: number,
    request: PickRequest,
    tried?: readonly number[],
  ): number {
    prepareFor(engine, list)
    return engine.pick(exports, block, list.handle, nowMs, request, list, tried)
  }

  started(row: number, nowMs: number): void {
    for (const recorder of this.recorders) recorder.started?.(this.#core.exports, this.#block, row, nowMs)
  }

  ended(row: number, ending: Ended): void {
    for (const recorder of this.recorders) recorder.ended?.(this.#core.exports, this.#block, row, ending)
  }
}

/** The list holds what the engine's last preparation left; another engine's is replaced. */
export function prepareFor(engine: Engine, list: CandidateList): void {
  if (engine.prepare === undefined || list.preparedFor === engine) return
  engine.prepare(list)
  list.preparedFor = engine
}
