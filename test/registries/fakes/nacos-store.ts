/** @module The instances that a fake Nacos knows: by namespace, group and service, expiring without beats. */

export interface Stored {
  instanceId: string
  ip: string
  port: number
  cluster: string
  /** As it is written in answers: Jackson writes NaN and Infinity as texts. */
  weight: number | string
  enabled: boolean
  healthy: boolean
  ephemeral: boolean
  metadata: Record<string, string>
}

export interface StoredScope {
  namespace: string
  group: string
  name: string
}

export interface Listing {
  hosts: readonly Stored[]
  reachProtectionThreshold: boolean
}

const UNHEALTHY_AFTER_MS = 15_000
const DELETED_AFTER_MS = 30_000

type Timers = ReturnType<typeof setTimeout>[]

export class NacosStore {
  readonly #services = new Map<string, Map<string, Stored>>()
  /** Of services that have metadata of their own; without, nothing is protected. */
  readonly #thresholds = new Map<string, number>()
  readonly #expiry = new Map<Stored, Timers>()

  /** Puts it there or changes it. @param expires whether it needs beats to stay */
  put(scope: StoredScope, stored: Stored, expires: boolean): void {
    const instances = this.#instances(scope)
    const key = keyOf(stored)
    const old = instances.get(key)
    if (old !== undefined) this.#cancel(old)
    instances.set(key, stored)
    if (expires) this.#expire(scope, stored)
  }

  find(scope: StoredScope, ip: string, port: number, cluster: string): Stored | undefined {
    return this.#services.get(idOf(scope))?.get(keyOf({ ip, port, cluster }))
  }

  byId(scope: StoredScope, instanceId: string): Stored | undefined {
    return [...(this.#services.get(idOf(scope))?.values() ?? [])].find((each) => each.instanceId === instanceId)
  }

  beat(scope: StoredScope, stored: Stored): void {
    stored.healthy = true
    this.#cancel(stored)
    this.#expire(scope, stored)
  }

  remove(scope: StoredScope, stored: Stored): void {
    this.#cancel(stored)
    this.#services.get(idOf(scope))?.delete(keyOf(stored))
  }

  /** So few healthy ones, as a share, that all are listed. */
  protect(scope: StoredScope, threshold: number): void {
    this.#thresholds.set(idOf(scope), threshold)
  }

  /** As the server lists: enabled ones, of these clusters; all of them, as healthy ones, if too few are healthy. */
  list(scope: StoredScope, clusters: readonly string[], healthyOnly: boolean): Listing {
    const all = [...(this.#services.get(idOf(scope))?.values() ?? [])].filter(
      ({ enabled, cluster }) => enabled && (clusters.length === 0 || clusters.includes(cluster)),
    )
    const healthy = all.filter((each) => each.healthy)
    const threshold = this.#thresholds.get(idOf(scope))
    if (threshold !== undefined && all.length > 0 && healthy.length / all.length <= threshold) {
      return { hosts: all.map((each) => ({ ...each, healthy: true })), reachProtectionThreshold: true }
    }
    return { hosts: healthyOnly ? healthy : all, reachProtectionThreshold: false }
  }

  names(namespace: string): { group: string; name: string }[] {
    return [...this.#services.keys()].map(scopeOf).filter((scope) => scope.namespace === namespace)
  }

  /** What a server without a disk forgets when it ends. */
  clear(): void {
    for (const stored of this.#expiry.keys()) this.#cancel(stored)
    this.#services.clear()
  }

  #instances(scope: StoredScope): Map<string, Stored> {
    const id = idOf(scope)
    let instances = this.#services.get(id)
    if (instances === undefined) {
      instances = new Map()
      this.#services.set(id, instances)
    }
    return instances
  }

  #expire(scope: StoredScope, stored: Stored): void {
    this.#expiry.set(stored, [
      after(UNHEALTHY_AFTER_MS, () => {
        stored.healthy = false
      }),
      after(DELETED_AFTER_MS, () => this.remove(scope, stored)),
    ])
  }

  #cancel(stored: Stored): void {
    for (const timer of this.#expiry.get(stored) ?? []) clearTimeout(timer)
    this.#expiry.delete(stored)
  }
}

function after(ms: number, callback: () => void): ReturnType<typeof setTimeout> {
  const timer: unknown = setTimeout(callback, ms)
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
  return timer as ReturnType<typeof setTimeout>
}

const idOf = ({ namespace, group, name }: StoredScope) => `${namespace}##${group}@@${name}`
const keyOf = ({ ip, port, cluster }: Pick<Stored, 'ip' | 'port' | 'cluster'>) => `${ip}#${port}#${cluster}`

function scopeOf(id: string): StoredScope {
  const [namespace = '', grouped = ''] = id.split('##')
  const [group = '', name = ''] = grouped.split('@@')
  return { namespace, group, name }
}
