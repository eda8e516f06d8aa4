/** @module What a cluster of Consul knows: nodes, services, checks, and the index at which each last changed. */

export type CheckStatus = 'passing' | 'warning' | 'critical'

export interface FakeCheck {
  id: string
  name: string
  status: CheckStatus
  output: string
  /** Critical after so long without an update. */
  ttlMs?: number
  /** Deregisters its service after so long critical. */
  deregisterAfterMs?: number
}

export interface FakeService {
  node: string
  id: string
  name: string
  address: string
  port: number
  tags: readonly string[]
  meta: Readonly<Record<string, string>>
  weights: { Passing: number; Warning: number }
  locality?: { Region: string; Zone: string }
  checks: Map<string, FakeCheck>
  createIndex: bigint
}

export interface FakeNode {
  name: string
  address: string
  datacenter: string
  meta: Readonly<Record<string, string>>
  checks: Map<string, FakeCheck>
}

const NODE_MAINTENANCE = '_node_maintenance'

interface Table {
  index: bigint
  entries: Map<string, FakeService>
}

export class ConsulCatalog {
  readonly nodes = new Map<string, FakeNode>()
  /** false: any write counts as one to every service, as before Consul 1.1 for those that nobody has. */
  indexPerService = true
  #index = 10n
  /** When a service was last gone altogether. */
  #extinctIndex = 1n
  readonly #services = new Map<string, Table>()
  readonly #waiting = new Set<(isSpurious: boolean) => void>()
  readonly #timers = new Map<FakeCheck, ReturnType<typeof setTimeout>>()

  get index(): bigint {
    return this.#index
  }

  get names(): string[] {
    return [...this.#services.keys()].sort()
  }

  /** By node and id, as Consul lists them. */
  of(name: string): FakeService[] {
    const entries = [...(this.#services.get(name)?.entries.values() ?? [])]
    return entries.sort((a, b) => compare(a.node, b.node) || compare(a.id, b.id))
  }

  at(node: string, id: string): FakeService | undefined {
    for (const { entries } of this.#services.values()) {
      const found = entries.get(keyOf(node, id))
      if (found !== undefined) return found
    }
    return undefined
  }

  checkAt(node: string, checkId: string): { check: FakeCheck; service: FakeService | undefined } | undefined {
    for (const { entries } of this.#services.values()) {
      for (const service of entries.values()) {
        const check = service.node === node ? service.checks.get(checkId) : undefined
        if (check !== undefined) return { check, service }
      }
    }
    const check = this.nodes.get(node)?.checks.get(checkId)
    return check && { check, service: undefined }
  }

  indexOf(name: string): bigint {
    if (!this.indexPerService) return this.#index
    return this.#services.get(name)?.index ?? this.#extinctIndex
  }

  put(service: Omit<FakeService, 'createIndex'>, keepChecks = false): void {
    const old = this.at(service.node, service.id)
    if (old !== undefined && old.name !== service.name) this.remove(old)
    let table = this.#services.get(service.name)
    if (table === undefined) this.#services.set(service.name, (table = { index: 0n, entries: new Map() }))
    for (const [id, check] of old?.checks ?? []) {
      if (keepChecks && !service.checks.has(id)) service.checks.set(id, check)
      else this.#untime(check)
    }
    this.#changed(service.name)
    table.entries.set(keyOf(service.node, service.id), { ...service, createIndex: old?.createIndex ?? this.#index })
    for (const check of service.checks.values()) this.#time(check)
  }

  remove({ name, node, id }: FakeService): void {
    const table = this.#services.get(name)
    const old = table?.entries.get(keyOf(node, id))
    if (table === undefined || old === undefined) return
    for (const check of old.checks.values()) this.#untime(check)
    table.entries.delete(keyOf(node, id))
    if (table.entries.size === 0) {
      this.#services.delete(name)
      this.#extinctIndex = this.#index + 1n
    }
    this.#changed(name)
  }

  /** An update restarts a TTL; one that says the same is no change. */
  update(service: FakeService | undefined, check: FakeCheck, status: CheckStatus, output = ''): void {
    const isSame = check.status === status && check.output === output
    check.status = status
    check.output = output
    this.#time(check)
    if (!isSame) this.#changed(service?.name)
  }

  setChecks(service: FakeService, change: (checks: Map<string, FakeCheck>) => void): void {
    change(service.checks)
    this.#changed(service.name)
  }

  setNodeMaintenance(node: FakeNode, reason: string | undefined): void {
    if (reason === undefined) node.checks.delete(NODE_MAINTENANCE)
    else node.checks.set(NODE_MAINTENANCE, checkOf(NODE_MAINTENANCE, 'Node Maintenance Mode', 'critical', reason))
    this.#changed()
  }

  /** Something else of the cluster is written. */
  touch(): void {
    this.#index++
    if (!this.indexPerService) this.#wake(false)
  }

  /** Everything as it was, at a lower index; those who wait are let go. */
  restore(index: bigint): void {
    this.#index = index
    this.#extinctIndex = least(this.#extinctIndex, index)
    for (const table of this.#services.values()) table.index = least(table.index, index)
    this.#wake(true)
  }

  /** Lets those who wait go, though nothing has changed. */
  wakeAll(): void {
    this.#wake(true)
  }

  /** Resolves when the service is newer than `index`, the time is up, or for no reason. */
  async newer(name: string, index: bigint, waitMs: number, signal: AbortSignal): Promise<void> {
    let [go, stop] = [() => {}, (_reason: unknown) => {}]
    const until = new Promise<void>((resolve, reject) => {
      go = resolve
      stop = reject
    })
    const timer = setTimeout(go, waitMs)
    const look = (isSpurious: boolean) => {
      if (isSpurious || this.indexOf(name) > index) go()
    }
    const onAbort = () => stop(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    this.#waiting.add(look)
    try {
      look(false)
      await until
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      this.#waiting.delete(look)
    }
  }

  get waiting(): number {
    return this.#waiting.size
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    this.#wake(true)
  }

  #changed(name?: string): void {
    this.#index++
    for (const [each, table] of this.#services) if (name === undefined || name === each) table.index = this.#index
    this.#wake(false)
  }

  #wake(isSpurious: boolean): void {
    for (const look of [...this.#waiting]) look(isSpurious)
  }

  #untime(check: FakeCheck): void {
    clearTimeout(this.#timers.get(check))
    this.#timers.delete(check)
  }

  /** What becomes of a check that is not updated. */
  #time(check: FakeCheck): void {
    this.#untime(check)
    const { ttlMs, deregisterAfterMs } = check
    const isCritical = check.status === 'critical'
    const ms = isCritical ? deregisterAfterMs : ttlMs
    if (ms === undefined) return
    const end = () => {
      const service = this.#ownerOf(check)
      if (service === undefined) return
      if (isCritical) this.remove(service)
      else this.update(service, check, 'critical', 'TTL expired')
    }
    this.#timers.set(check, setTimeout(end, ms))
  }

  #ownerOf(check: FakeCheck): FakeService | undefined {
    for (const { entries } of this.#services.values()) {
      for (const service of entries.values()) if (service.checks.get(check.id) === check) return service
    }
    return undefined
  }
}

export function checkOf(id: string, name: string, status: CheckStatus, output = ''): FakeCheck {
  return { id, name, status, output }
}

const keyOf = (node: string, id: string) => `${node}/${id}`
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const least = (a: bigint, b: bigint) => (a < b ? a : b)
