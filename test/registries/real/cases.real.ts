/** @module The common cases on real servers. */

import { registryCases } from '../cases.js'
import { dnsmasqRegistry } from './dnsmasq.js'
import { etcdRegistry } from './etcd.js'
import { eurekaRegistry } from './eureka.js'
import { rnacosRegistry } from './rnacos.js'

registryCases('etcd', etcdRegistry, { registers: true })
registryCases('dnsmasq', dnsmasqRegistry, { registers: false, lacks: { zone: true } })
registryCases('r-nacos', rnacosRegistry, { registers: true })
registryCases('eureka', eurekaRegistry, { registers: true })
