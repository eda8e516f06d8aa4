/** @module The discovery client of Kubernetes. */

import { msOf } from '../../config/duration.js'
import { ClosedError } from '../../errors.js'
import { defaultClock } from '../../runtime/host.js'
import type { DiscoveryClient, WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import { Backoff, CUT_OFF_GROWTH } from '../registry/backoff.js'
import { ListKeeper } from '../registry/list-keeper.js'
import { OpenWatches } from '../registry/open-watches.js'
import { registryAddress } from '../registry/registry-address.js'
import { RegistryHttp } from '../registry/registry-http.js'
import { watchLoop } from '../registry/watch-loop.js'
import { ClusterTrust } from './cluster-trust.js'
import { type Credentials, givenToken, mountedToken, NO_CREDENTIALS } from './credentials.js'
import { clusterUrl, readAccountFile, SERVICE_ACCOUNT_FOLDER } from './in-cluster.js'
import { instancesOf } from './instances-of.js'
import { checkOptions, type KubernetesDiscoveryOptions } from './options.js'
import { serviceName } from './service-name.js'
import { type Selection, SliceApi } from './slice-api.js'
import { SliceStore } from './slice-store.js'
import { SPREAD_MS, watchSession } from './watch-session.js'

const WATCH_TIMEOUT_MS = 300_000
const MAX_LINE_LENGTH = 8 * 2 ** 20
const BACKOFF = { minMs: SPREAD_MS, maxMs: 30_000, growth: CUT_OFF_GROWTH }

/** Lists and watches; services are registered by Kubernetes itself. */
export type KubernetesDiscovery = Required<
  Pick<DiscoveryClient, 'name' | 'order' | 'get' | 'watch' | 'services' | 'describe' | 'close'>
>

/** What is known of one service. */
interface Known {
  readonly keeper: ListKeeper
  remarks: Record<string, string>
}

/**
 * The ready pods of a Kubernetes service, by its EndpointSlices: listed once, then watched, so that a change counts
 * within a second. In a pod it needs no options; its service account must be allowed to get, list and watch
 * `endpointslices` of `discovery.k8s.io` in the namespace. On Node the cluster's certificate must be made known:
 * NODE_EXTRA_CA_CERTS=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt.
 *
 * Breaks when pods can't be reached by their addresses, as from outside of most clusters; and it is one connection for
 * each service and process: for thousands of processes call the service's own address, or ask a gateway.
 * @throws EVENKEEL_CONFIG naming the option; outside a cluster without `url`
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/ and the EndpointSlice API, discovery.k8s.io/v1
 * @example
 * const lb = createLoadBalancer({ discovery: kubernetesDiscovery({ port: 'http' }) })
 * await lb.fetch('http://orders/42')
 */
export function kubernetesDiscovery(options: KubernetesDiscoveryOptions = {}): KubernetesDiscovery {
  checkOptions(options, 'kubernetesDiscovery')
  const { url, order = 0, random = Math.random, clock = defaultClock(), limit = 500 } = options
  const address = registryAddress(url ?? clusterUrl(), 'url')
  const folder = options.serviceAccountFolder ?? (url === undefined ? SERVICE_ACCOUNT_FOLDER : undefined)
  const needsTrust = address.base.startsWith('https:') && options.fetch === undefined && options.init === undefined
  const trust = needsTrust && folder !== undefined ? new ClusterTrust(folder) : undefined
  const http = new RegistryHttp('kubernetes', trust === undefined ? options : { ...options, fetch: trust.fetch })
  if (typeof options.token === 'string') http.keepSecret(options.token.trim(), 'token')
  const api = new SliceApi(http, address, credentialsOf(options, folder, clock), limit)
  const watchTimeoutMs = msOf(options.watchTimeoutMs) ?? WATCH_TIMEOUT_MS
  const known = new Map<string, Known>()
  const watches = new OpenWatches()
  let ownNamespace = options.namespace ?? (folder === undefined ? 'default' : undefined)

  const namespace = async () => {
    ownNamespace ??= await readAccountFile(folder as string, 'namespace')
    return ownNamespace
  }

  const selectorOf = (label: string) => [label, ...(options.labelSelector ? [options.labelSelector] : [])].join(',')

  const selectionOf = async (serviceId: string): Promise<Selection> => {
    const name = serviceName(serviceId)
    return {
      namespace: name.namespace ?? (await namespace()),
      labelSelector: selectorOf(`kubernetes.io/service-name=${name.service}`),
    }
  }

  const listOf = (serviceId: string, selection: Selection, store: SliceStore): readonly InstanceInit[] => {
    const { found, unreadable, remarks } = instancesOf(store.slices, selection.namespace, options)
    let entry = known.get(serviceId)
    if (entry === undefined) known.set(serviceId, (entry = { keeper: new ListKeeper(), remarks }))
    entry.remarks = { slices: String(store.slices.length), resourceVersion: store.resourceVersion, ...remarks }
    return entry.keeper.keep(found, unreadable)
  }

  return {
    name: 'kubernetes',
    order,
    async get(serviceId, { signal }) {
      const selection = await selectionOf(serviceId)
      return listOf(serviceId, selection, new SliceStore(await api.list(selection, signal), (said) => api.quoted(said)))
    },
    watch(serviceId, wanted) {
      const session = async function* (watching: WatchOptions) {
        const selection = await selectionOf(serviceId)
        yield* watchSession({
          api,
          selection,
          options: watching,
          watchTimeoutMs,
          maxLineLength: options.maxAnswerBytes ?? MAX_LINE_LENGTH,
          clock,
          random,
          listOf: (store) => listOf(serviceId, selection, store),
        })
      }
      const backoff = new Backoff(BACKOFF, random)
      return watches.run(wanted, (options) => watchLoop(() => session(options), { options, backoff, clock }))
    },
    async services({ signal }) {
      return api.services(
        { namespace: await namespace(), labelSelector: selectorOf('kubernetes.io/service-name') },
        signal,
      )
    },
    describe(serviceId) {
      const { remarks, keeper } = known.get(serviceId) ?? {}
      const [, inNamespace = ownNamespace] = serviceId.split('.')
      return {
        address: address.base,
        ...(inNamespace !== undefined && { namespace: inNamespace }),
        ...remarks,
        ...keeper?.remarks,
      }
    },
    async close() {
      watches.close(new ClosedError('kubernetesDiscovery is closed'))
      trust?.close()
    },
  }
}

function credentialsOf(
  { token, requestTimeoutMs }: KubernetesDiscoveryOptions,
  folder: string | undefined,
  clock: () => number,
): Credentials {
  if (token !== undefined) return givenToken(token, msOf(requestTimeoutMs) ?? 5_000)
  return folder === undefined ? NO_CREDENTIALS : mountedToken(folder, clock)
}
