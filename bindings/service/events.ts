/** @module Listeners of a service. One that throws is reported once and never breaks a call. */

import { guarded } from '../report.js'
import type { ServiceEvents } from '../types/answers.js'
import { DISPOSE } from './dispose.js'

type Listener<E extends keyof ServiceEvents> = (value: ServiceEvents[E]) => void

const EVENTS: readonly (keyof ServiceEvents)[] = ['change', 'eject', 'restore', 'fallback', 'discoveryError']

export class Events {
  readonly #listeners = new Map<keyof ServiceEvents, Set<Listener<never>>>()

  static isEvent(name: unknown): name is keyof ServiceEvents {
    return (EVENTS as readonly unknown[]).includes(name)
  }

  static get names(): string {
    return EVENTS.join(', ')
  }

  on<E extends keyof ServiceEvents>(event: E, listener: Listener<E>): Disposable {
    let listeners = this.#listeners.get(event)
    if (listeners === undefined) this.#listeners.set(event, (listeners = new Set()))
    listeners.add(listener as Listener<never>)
    return { [DISPOSE]: () => void listeners.delete(listener as Listener<never>) }
  }

  emit<E extends keyof ServiceEvents>(event: E, value: ServiceEvents[E]): void {
    const listeners = this.#listeners.get(event)
    if (listeners === undefined) return
    for (const listener of [...listeners] as Listener<E>[]) {
      guarded(listener, `a listener of "${event}"`, () => listener(value) as unknown)
    }
  }

  hasListeners(event: keyof ServiceEvents): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0
  }

  clear(): void {
    this.#listeners.clear()
  }
}
