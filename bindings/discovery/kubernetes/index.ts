/** @module evenkeel/kubernetes: instances from the EndpointSlices of a Kubernetes service. */

export { type KubernetesDiscovery, kubernetesDiscovery } from './kubernetes-discovery.js'
export type { KubernetesDiscoveryOptions, TokenSource } from './options.js'
