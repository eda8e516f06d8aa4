/** @module Cloudflare's workerd at one compatibility date: the conformance, and refreshes across requests. */

import type { Context, Report } from '../conformance/case.js'
import { resultOf } from './child.js'
import { startRegistry } from './registry.js'
import { addCase, type Runtime, runtimeOf } from './runtime.js'
import { Driver, refreshCases } from './workerd-refresh.js'
import { startWorker } from './workerd-server.js'

export const OLDEST_DATE = '2024-09-01'

export function workerd(compatibilityDate: string): Runtime {
  return runtimeOf(`workerd-${compatibilityDate}`, {}, async (context, folder) => {
    const report = await conformance(context, folder, compatibilityDate)
    await refreshes(report, context, folder, compatibilityDate)
    return report
  })
}

async function conformance(context: Context, folder: string, compatibilityDate: string): Promise<Report> {
  const { child, url } = await startWorker(folder, {
    entry: 'worker',
    compatibilityDate,
    bindings: { BACKEND_A: context.backends.a },
  })
  return resultOf(
    child,
    'workerd',
    url.then((base) => ask(base, context)),
  )
}

async function ask(url: string, context: object): Promise<Report> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(context) })
  const text = await response.text()
  if (!response.ok) throw new Error(`the Worker answered ${response.status}: ${text}`)
  return JSON.parse(text) as Report
}

async function refreshes(report: Report, { backends }: Context, folder: string, compatibilityDate: string) {
  const registry = await startRegistry()
  try {
    const { child, url } = await startWorker(folder, {
      entry: 'refresh-worker',
      compatibilityDate,
      texts: { REGISTRY: registry.url },
    })
    const driven = url.then(async (base) => {
      for (const [i, { name, run }] of refreshCases.entries()) {
        await addCase(report, name, () => run(new Driver(base, registry, backends, `service-${i}`)))
      }
    })
    await resultOf(child, 'workerd with refreshes', driven)
  } finally {
    await registry.stop()
  }
}
