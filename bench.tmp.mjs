import { createLoadBalancer, hint, zonePreference, subset, version, stickySession, apiVersion } from 'evenkeel'
const instances = Array.from({ length: 1000 }, (_, i) => ({ host: `10.0.${i >> 8}.${i & 255}`, hint: ['canary','stable','nightly','legacy'][i & 3], zone: i & 4 ? 'a' : 'b', version: 'v1', metadata: { API_VERSION: '1' } }))
const chains = {
  bare: [], hint: [hint()], 'hint+zone': [hint(), zonePreference({ zone: 'a' })], 'hint+zone+subset': [hint(), zonePreference({ zone: 'a' }), subset({ instanceId: 'c', size: 100 })],
  '+version': [hint(), version()], '+sticky': [hint(), stickySession()], '+api': [hint(), apiVersion({ header: 'x-api-version', fallback: 'all' })],
  six: [hint(), zonePreference({ zone: 'a' }), subset({ instanceId: 'c', size: 100 }), version(), stickySession(), apiVersion({ header: 'x-api-version', fallback: 'all' })],
}
const which = process.argv[2]
const service = createLoadBalancer({ seed: 42, services: { b: { instances, suppliers: chains[which] } } }).service('b')
const requests = Array.from({ length: 4 }, () => ({ hint: 'canary' }))
const run = (n) => { let l = service.pick(requests[0]); for (let i = 0; i < n; i++) { const x = service.pick(requests[i & 3]); l.done(); l = x } l.done() }
run(300000)
let best = 1e9
for (let r = 0; r < 40; r++) { const t = process.hrtime.bigint(); run(100000); best = Math.min(best, Number(process.hrtime.bigint() - t) / 100000) }
console.log(which.padEnd(20), best.toFixed(1))
