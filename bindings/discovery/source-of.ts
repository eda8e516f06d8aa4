/** @module Which kind of source a service has. */

import type { ServiceSettings } from '../config/settings.js'
import { isWorkers } from '../runtime/host.js'
import { AskedSource } from './asked-source.js'
import type { ListSource, SourceHost } from './list-source.js'
import { StaticSource } from './static-source.js'
import { WatchedSource } from './watched-source.js'

export function sourceOf(settings: ServiceSettings, host: SourceHost): ListSource {
  const { discovery } = settings
  if (discovery === undefined) return new StaticSource(host)
  // A watch lives on after the request that began it, which nothing does on Workers: there it is asked.
  if (discovery.watch !== undefined && !isWorkers()) return new WatchedSource(discovery, settings, host)
  return new AskedSource(discovery, settings, host)
}
