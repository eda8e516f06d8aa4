/** @module SCLB's `configurations` as a preset, or as suppliers where the file says more of them. */

import type { HealthCheckOptions, ServiceOptions, TypedOptions } from '../types/options.js'
import type { Property } from './property.js'
import type { Report } from './report.js'
import { pingOptions } from './ribbon-options.js'
import { ribbonSuppliers } from './ribbon-suppliers.js'
import type { Chain, Settings } from './settings.js'

/** The supplier of a chain that keys of a group are about. */
const SUPPLIERS: Readonly<Record<string, { chain: Chain; type: string }>> = {
  stickySession: { chain: 'request-based-sticky-session', type: 'sticky-session' },
  subset: { chain: 'subset', type: 'subset' },
  apiVersion: { chain: 'api-version', type: 'api-version' },
}

type ChainOptions = Pick<ServiceOptions, 'preset' | 'suppliers' | 'healthCheck'>

/** @param serviceId undefined: all services */
export function chainOptions(settings: Settings, serviceId: string | undefined, report: Report): ChainOptions {
  const chain = settings.get('chain')
  return {
    ...supplierOptions(settings, chain, report),
    ...healthOptions(settings, chain, serviceId, report),
  }
}

function supplierOptions(settings: Settings, chain: Chain | undefined, report: Report): ChainOptions {
  let typed: TypedOptions | undefined
  for (const [group, { chain: own, type }] of Object.entries(SUPPLIERS)) {
    const { values, from } = settings.group(group)
    if (from.length === 0) continue
    const supplier = { type, ...values }
    if (chain === own) typed = supplier
    tell(report, from, chain === own, `suppliers: [${shown(supplier)}]`, own)
  }
  const hint = hintSupplier(settings, report)
  const suppliers = [...ribbonSuppliers(settings, report), typed, hint].filter((supplier) => supplier !== undefined)
  return {
    ...(chain !== undefined && typed === undefined && { preset: chain }),
    ...(suppliers.length > 0 && { suppliers }),
  }
}

/** Hints are the one supplier that no `configurations` names, so the keys alone must say that it is wanted. */
function hintSupplier(settings: Settings, report: Report): string | TypedOptions | undefined {
  const header = settings.get('hint.header')
  const from = settings.from('hint.header') ?? settings.from('hints')
  if (from === undefined) return undefined
  report.warn(from, "adds the supplier 'hint'; SCLB does so only where Java code says withHints()")
  return header === undefined ? 'hint' : { type: 'hint', header }
}

function healthOptions(
  settings: Settings,
  chain: Chain | undefined,
  serviceId: string | undefined,
  report: Report,
): ChainOptions {
  const { values, from } = settings.group('healthCheck')
  const pings = pingOptions(settings, report)
  const ping = settings.from('ping')
  if (chain !== 'health-check' && pings !== undefined) return { healthCheck: pings }
  if (pings !== undefined && ping !== undefined)
    report.warn(ping, 'not used: "configurations: health-check" replaces it')
  if (from.length === 0) return {}
  const { path: paths, refetch, refetchMs, ...same } = values
  const path = pathFor((paths ?? {}) as Record<string, string>, serviceId)
  const every = refetch === false ? Number.POSITIVE_INFINITY : (refetchMs ?? (refetch ? REFETCH_MS : undefined))
  const healthCheck: HealthCheckOptions = {
    ...(path !== undefined && { path }),
    ...same,
    ...(every !== undefined && { refetchMs: every as number }),
  }
  tell(report, from, chain === 'health-check', `healthCheck: ${shown(healthCheck)}`, 'health-check')
  return chain === 'health-check' && Object.keys(healthCheck).length > 0 ? { healthCheck } : {}
}

/** The default of `health-check.refetch-instances-interval`. */
const REFETCH_MS = 25_000

/** Ids in any case, as in Spring's map. A blank default is no path, but asks all the same. */
function pathFor(paths: Readonly<Record<string, string>>, serviceId: string | undefined): string | undefined {
  const under = (wanted: string | undefined) =>
    Object.entries(paths).findLast(([id]) => id.toLowerCase() === wanted?.toLowerCase())?.[1]
  const byDefault = under('default')
  return under(serviceId) ?? (byDefault === '' ? '/' : byDefault)
}

function tell(report: Report, from: readonly Property[], used: boolean, option: string, chain: Chain): void {
  if (used) report.use(from)
  else {
    const when = `SCLB reads it with "configurations: ${chain}", or where Java code builds that chain`
    report.idle(from, `no effect: ${when}; to have it, add ${option}`)
  }
}

/** As one writes it in code. */
function shown(options: object): string {
  return JSON.stringify(options, (_, value) => (value === Number.POSITIVE_INFINITY ? '∞' : value)).replace(
    '"∞"',
    'Infinity',
  )
}
