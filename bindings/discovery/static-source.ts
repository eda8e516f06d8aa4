/** @module A list that the user wrote, and may update. */

import { ConfigError } from '../errors.js'
import type { ListChange } from '../types/answers.js'
import { ListSource, type SourceHost } from './list-source.js'

export class StaticSource extends ListSource {
  readonly ages = false

  constructor(host: SourceHost) {
    super(undefined, host)
  }

  isCurrent(): boolean {
    return true
  }

  isFresh(): boolean {
    return this.listed
  }

  protected isDue(): boolean {
    return false
  }

  revive(): void {
    this.gate?.begin()
  }

  protected async arrival(): Promise<void> {}

  async refresh(): Promise<ListChange> {
    const { serviceId } = this.host
    throw new ConfigError(`service "${serviceId}" has a static list: use update()`, { serviceId })
  }
}
