/** @module `NFLoadBalancerRuleClassName`: which policy a rule is, or what to do instead. */

import type { Reader } from './readers.js'

export interface Rule {
  readonly policy?: string
  readonly advice?: string
}

const NETFLIX = 'com.netflix.loadbalancer.'

const RULES: Readonly<Record<string, Rule>> = {
  RoundRobinRule: { policy: 'round-robin' },
  RandomRule: { policy: 'random' },
  WeightedResponseTimeRule: later('weighted-response-time', 'peak-ewma'),
  ResponseTimeWeightedRule: later('weighted-response-time', 'peak-ewma'),
  BestAvailableRule: later('best-available', 'least-request'),
  AvailabilityFilteringRule: later('availability-filtering', 'peak-ewma'),
  ZoneAvoidanceRule: later('zone-avoidance', 'round-robin', " with 'zone-preference' among the suppliers"),
  RetryRule: later('retry-rule', 'round-robin', ': a failed call is retried on another instance anyway'),
}

const OTHERS: Readonly<Record<string, Rule>> = {
  'com.alibaba.cloud.nacos.ribbon.NacosRule': {
    advice: "use policy: 'random' with suppliers: ['zone-preference', 'weighted'], and metadata zone and weight",
  },
}

export const rule: Reader<Rule> = {
  accepts: 'the name of a rule class',
  read: (name) => {
    const netflix = name.startsWith(NETFLIX) ? name.slice(NETFLIX.length) : ''
    if (Object.hasOwn(RULES, netflix)) return RULES[netflix]
    if (Object.hasOwn(OTHERS, name)) return OTHERS[name]
    return { advice: `write ${name} as a policy { name, pick(candidates, context) }; what it filters, as a supplier` }
  },
}

function later(policy: string, today: string, how = ''): Rule {
  return { advice: `not translated: a later version has '${policy}'; the nearest today is '${today}'${how}` }
}
