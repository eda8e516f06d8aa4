/** @module A registry over HTTP whose answers can be withheld. */

import { createServer, type ServerResponse } from 'node:http'
import { close, listening } from './backends.js'

interface Listed {
  list: readonly string[]
  holding: boolean
  asked: number
  held: ServerResponse[]
  gone: number
  waiting: (() => void)[]
}

export interface Registry {
  url: string
  /** What the service's list is from now on. */
  put(serviceId: string, list: readonly string[]): void
  /** While `holding`, no ask for this list is answered; those held stay so until `release`. */
  hold(serviceId: string, holding: boolean): void
  release(serviceId: string): void
  /** How often the list was asked for. */
  asked(serviceId: string): number
  /** Ends when it has been asked for at least so often. */
  untilAsked(serviceId: string, times: number): Promise<void>
  /** Ends when so many of the held ones have been given up by those who asked. */
  untilGone(serviceId: string, times: number): Promise<void>
  /** Ends when a Worker has said hello with this token. */
  untilHello(token: string): Promise<void>
  stop(): Promise<void>
}

export async function startRegistry(): Promise<Registry> {
  const services = new Map<string, Listed>()
  const hellos = new Map<string, { promise: Promise<void>; tell: () => void }>()
  const serviceOf = (serviceId: string): Listed => {
    let service = services.get(serviceId)
    if (service === undefined) {
      service = { list: [], holding: false, asked: 0, held: [], gone: 0, waiting: [] }
      services.set(serviceId, service)
    }
    return service
  }
  const helloOf = (token: string) => {
    let hello = hellos.get(token)
    if (hello === undefined) {
      let tell!: () => void
      const promise = new Promise<void>((resolve) => {
        tell = resolve
      })
      hellos.set(token, (hello = { promise, tell }))
    }
    return hello
  }
  const until = async (serviceId: string, reached: (service: Listed) => boolean) => {
    const service = serviceOf(serviceId)
    while (!reached(service)) await new Promise<void>((resolve) => service.waiting.push(resolve))
  }
  const wake = (service: Listed) => {
    for (const look of service.waiting.splice(0)) look()
  }
  const server = createServer((request, response) => {
    const [, kind, name] = (request.url ?? '').split('/') as [string, string, string]
    if (kind === 'hello') {
      helloOf(name).tell()
      response.end()
      return
    }
    const service = serviceOf(name)
    service.asked++
    wake(service)
    if (!service.holding) return response.end(JSON.stringify(service.list))
    service.held.push(response)
    response.once('close', () => {
      if (response.writableEnded) return
      service.gone++
      wake(service)
    })
  })
  const url = await listening(server)
  return {
    url,
    put(serviceId, list) {
      serviceOf(serviceId).list = list
    },
    hold(serviceId, holding) {
      serviceOf(serviceId).holding = holding
    },
    release(serviceId) {
      const { held, list } = serviceOf(serviceId)
      for (const response of held.splice(0)) response.end(JSON.stringify(list))
    },
    asked: (serviceId) => serviceOf(serviceId).asked,
    untilAsked: (serviceId, times) => until(serviceId, ({ asked }) => asked >= times),
    untilGone: (serviceId, times) => until(serviceId, ({ gone }) => gone >= times),
    untilHello: (token) => helloOf(token).promise,
    stop: () => close(server),
  }
}
