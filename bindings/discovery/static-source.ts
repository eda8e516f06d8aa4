/** @module A list that the user wrote, and may update. */

import { ConfigError } from '../errors.js'
import type { ListChange } from '../types/answers.js'
import { ListSource, type SourceHost } from './list-source.js'

export class StaticSource extends ListSource {
  readonly ages = false

  constructor(host: SourceHost) {
    super(undefined, host)
  }

  isFresh(): boolean {
    return true
  }

  mustWait(): boolean {
    return false
  }

  revive(): void {}

  protected async arrival(): Promise<void> {}

  async refresh(): Promise<ListChange> {
    const { serviceId } = this.host
    throw new ConfigError(`service "${serviceId}" has a static list: use update()`, { serviceId })
  }
}
