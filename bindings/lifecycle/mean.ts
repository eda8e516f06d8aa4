/** @module A mean that grows with what is added. */

export class Mean {
  #count = 0
  #sum = 0

  add(value: number): void {
    this.#count++
    this.#sum += value
  }

  /** NaN before the first. */
  get value(): number {
    return this.#sum / this.#count
  }
}
