/** @module Requests at a steady rate, whoever answers them. */

import type { Service } from '../../../bindings/index.js'

export class RequestStream {
  readonly errors: unknown[] = []
  answered = 0
  readonly #service: Service
  readonly #timer: ReturnType<typeof setInterval>
  readonly #underWay = new Set<Promise<void>>()
  readonly #wakes = new Set<() => void>()

  constructor(service: Service, perSecond: number) {
    this.#service = service
    this.#timer = setInterval(() => this.#send(), 1_000 / perSecond)
  }

  /** Resolves when so many more have ended. */
  more(count: number): Promise<void> {
    const least = this.ended + count
    return this.#until(() => this.ended >= least)
  }

  /** Resolves when so many more have failed. */
  moreErrors(count: number): Promise<void> {
    const least = this.errors.length + count
    return this.#until(() => this.errors.length >= least)
  }

  get ended(): number {
    return this.answered + this.errors.length
  }

  /** Sends no more; resolves when all have ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#underWay)
  }

  #send(): void {
    const request = this.#ask().finally(() => {
      this.#underWay.delete(request)
      for (const look of [...this.#wakes]) look()
    })
    this.#underWay.add(request)
  }

  async #ask(): Promise<void> {
    try {
      const response = await this.#service.fetch('/')
      await response.text()
      if (!response.ok) throw new Error(`status ${response.status}`)
      this.answered++
    } catch (error) {
      this.errors.push(error)
    }
  }

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return
        this.#wakes.delete(look)
        resolve()
      }
      this.#wakes.add(look)
      look()
    })
  }
}
