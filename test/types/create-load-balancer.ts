/**
 * What the compiler says of calls of createLoadBalancer; it is never run. A mistake in a service's options must not
 * compile, and the balancer knows its services by name, unless a registry may know more.
 */

import { createLoadBalancer, type LoadBalancer, type LoadBalancerOptions } from '../../bindings/index.js'

const listed = createLoadBalancer({ services: { orders: ['http://a'], pay: { instances: ['http://b'] } } })
listed.pick('orders')
listed.pick('pay')
// @ts-expect-error: there is no such service
listed.pick('nobody')

// @ts-expect-error: attemptTimeoutMs
createLoadBalancer({ services: { s: { instances: ['http://x'], attemptTimeout: 5 } } })
// @ts-expect-error: zone
createLoadBalancer({ services: { s: { instances: [{ url: 'http://x', zonne: 'a' }] } } })
// @ts-expect-error: instances are those of one service
createLoadBalancer({ defaults: { instances: ['http://a'] } })

const open = createLoadBalancer({ services: { orders: { timeoutMs: 5 } }, discovery: () => ['http://a:1'] })
open.pick('inventory')
createLoadBalancer({ discovery: { name: 'registry', get: (id) => [`http://${id}:1`] } }).pick('any')

const unknown: LoadBalancer = createLoadBalancer()
unknown.pick('any')
const read: LoadBalancerOptions = {}
createLoadBalancer(read).pick('any')
createLoadBalancer({ ...read, discovery: { name: 'registry', get: () => [] } }).pick('any')
