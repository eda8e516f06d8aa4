/** What a survey of the issues of Ribbon and of registries' clients has: each has a test that names it. */

import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'

/** Row of the survey or project, as the title names the issue, file. */
const SURVEY: readonly (readonly [row: string, named: string, file: string])[] = [
  ['1', 'ribbon 233', 'unit/ribbon-pains.test.ts'],
  ['2', 'ribbon 338', 'unit/ribbon-pains.test.ts'],
  ['4', 'ribbon PR 365', 'unit/ribbon-pains.test.ts'],
  ['5', 'ribbon PR 357', 'unit/ribbon-pains.test.ts'],
  ['7', 'ribbon 394', 'unit/ribbon-pains.test.ts'],
  ['8', 'ribbon 171', 'unit/ribbon-pains.test.ts'],
  ['10', 'ribbon 466', 'unit/ribbon-pains.test.ts'],
  ['11', 'Netflix/ribbon#200', 'unit/pings.test.ts'],
  ['14', 'spring-cloud-netflix 3131', 'unit/ribbon-pains.test.ts'],
  ['16', 'spring-cloud-netflix 1878', 'unit/ribbon-pains.test.ts'],
  ['17', 'spring-cloud-netflix#3974', 'unit/retry-handlers.test.ts'],
  ['19', 'spring-cloud-netflix 1072', 'unit/ribbon-pains.test.ts'],
  ['20', 'spring-cloud-netflix#2352', 'registries/eureka.test.ts'],
  ['20', 'spring-cloud-netflix#2352', 'registries/base-parts.test.ts'],
  ['22', 'spring-cloud-commons#747', 'unit/retry-handlers.test.ts'],
  ['23', 'spring-cloud-commons#1254', 'registries/cache-under-traffic.test.ts'],
  ['23', 'spring-cloud-commons#1215', 'registries/cache-under-traffic.test.ts'],
  ['25', 'jquatier/eureka-js-client#19', 'registries/eureka.test.ts'],
  ['25', 'jquatier/eureka-js-client#47', 'registries/eureka-registration.test.ts'],
  ['26', 'Netflix/eureka#1528', 'registries/eureka-registry.test.ts'],
  ['26', 'Netflix/eureka#1120', 'registries/eureka-registry.test.ts'],
  ['28', 'nacos-sdk-nodejs PR#152', 'registries/nacos.test.ts'],
  ['29', 'silas/node-consul#135, #24', 'registries/consul-blocking.test.ts'],
  ['churn', 'hashicorp/consul#1244, #3890', 'registries/consul-blocking.test.ts'],
  ['silent loss', 'silas/node-consul#51', 'registries/consul-blocking.test.ts'],
  ['410', 'kubernetes-client/javascript#392', 'registries/kubernetes-watch.test.ts'],
  ['silent stall', 'kubernetes-client/javascript#364', 'registries/kubernetes-watch.test.ts'],
  ['hot loop', 'kubernetes-client/javascript#1933', 'registries/kubernetes-watch.test.ts'],
  ['new pods', 'grpc/grpc-node#1663, #2455', 'registries/kubernetes-watch.test.ts'],
  ['new pods', 'grpc/grpc-node#1663', 'registries/dns.test.ts'],
  ['new pods', 'grpc/grpc-node#2023', 'registries/dns.test.ts'],
  ['DNS storm', 'grpc/grpc-node#2455', 'registries/dns.test.ts'],
  ['credentials', 'nodejs/undici#3220', 'registries/base-address.test.ts'],
  ['credentials', 'nodejs/undici#3220', 'registries/eureka.test.ts'],
  ['VIP', 'spring-cloud-netflix#1788', 'registries/eureka.test.ts'],
  ['403', 'nacos#2762, nacos#3455', 'registries/nacos-login.test.ts'],
  ['group', 'nacos-sdk-nodejs#120, PR#56, nacos#7565', 'registries/nacos-registration.test.ts'],
  ['weights', 'servicecomb-java-chassis 2176', 'unit/ribbon-pains.test.ts'],
  ['health checks', 'spring-cloud-commons 842', 'unit/health.test.ts'],
  ['sticky', 'commons 1144', 'spring/issues.test.ts'],
  ['shares', 'spring-cloud-netflix 3114', 'unit/ribbon-pains.test.ts'],
]

it.each(SURVEY)('%s: %s has its test in %s', async (_, named, file) => {
  const source = await readFile(new URL(`../${file}`, import.meta.url), 'utf8')
  const titles = [...source.matchAll(/^\s*(?:describe|it|test)(?:\.each)?\b[^\n]*/gm)].map(([line]) => line)
  const isNamed = new RegExp(`(?<!\\w)${named}(?!\\d)`)
  expect(titles.filter((title) => isNamed.test(title)).length).toBeGreaterThan(0)
})
