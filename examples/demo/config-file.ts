/** @module The user's options, from a JSON file. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LoadBalancerOptions, ServiceMap } from 'evenkeel'
import { lineOf, Problem } from './problem.js'

/**
 * Only what is needed to find the service is looked at here: the balancer checks the rest.
 * @param policy replaces the service's own
 * @throws Problem with status 2
 */
export async function readConfig(
  file: string,
  serviceId: string,
  policy: string | undefined,
): Promise<LoadBalancerOptions> {
  const options = parse(await read(file), file)
  const services = (isObject(options.services) ? options.services : {}) as ServiceMap
  if (!Object.hasOwn(services, serviceId)) {
    const known = Object.keys(services)
    const which = known.length === 0 ? 'none' : known.join(', ')
    throw new Problem(`${file} has no service "${serviceId}"; it has ${which}`, 2)
  }
  const own = services[serviceId] as ServiceMap[string]
  return {
    seed: 1,
    ...options,
    services: policy === undefined ? services : { ...services, [serviceId]: withPolicy(own, policy) },
  }
}

/** What is no service at all stays as it is, for the balancer to say so. */
function withPolicy(service: ServiceMap[string], policy: string): ServiceMap[string] {
  if (Array.isArray(service)) return { instances: service, policy }
  return isObject(service) ? { ...service, policy } : service
}

async function read(file: string): Promise<string> {
  try {
    // npm runs scripts in the package's folder, and says here where the user called it.
    return await readFile(resolve(process.env.INIT_CWD ?? '.', file), 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new Problem(isMissing ? `there is no file ${file}` : `can't read ${file}: ${lineOf(error)}`, 2)
  }
}

function parse(text: string, file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Problem(`${file} is not JSON: ${lineOf(error)}`, 2)
  }
  if (isObject(value)) return value
  throw new Problem(`${file} must hold an object, the options of createLoadBalancer`, 2)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
