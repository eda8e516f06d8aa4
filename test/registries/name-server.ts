/** @module A name server on loopback, over UDP and TCP, that answers from a FakeDoh's zone. */

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import type { FakeDoh } from './fakes/doh.js'

const TYPES: Readonly<Record<number, string>> = { 1: 'A', 5: 'CNAME', 16: 'TXT', 28: 'AAAA', 33: 'SRV' }
/** Without EDNS. RFC 1035 §4.2.1. */
const MOST_OCTETS = 512

interface JsonAnswer {
  Status: number
  Answer?: { name: string; type: number; TTL: number; data: string }[]
}

export class NameServer {
  /** Answers nothing. */
  silent = false
  /** Sent before each answer, as somebody would who guesses. */
  forged: ((answer: Buffer, from: RemoteInfo) => Buffer | undefined) | undefined
  /** Answers come after this. */
  pausedBy: (() => Promise<unknown>) | undefined
  /** Marks every answer as truncated, over TCP too. */
  cutsAll = false
  /** In place of the answer. */
  junk: Buffer | undefined
  /** Questions that came over TCP. */
  overTcp = 0
  readonly #doh: FakeDoh
  #udp: Socket | undefined
  #tcp: Server | undefined
  #port = 0

  constructor(doh: FakeDoh) {
    this.#doh = doh
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const tcp = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', async (data: Buffer) => {
        this.overTcp++
        const answer = await this.#answer(data.subarray(2))
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answer.length)
        // In two pieces, as the network may have it.
        socket.write(Buffer.concat([length, answer.subarray(0, 5)]))
        socket.end(answer.subarray(5))
      })
    })
    tcp.listen(0, '127.0.0.1')
    await once(tcp, 'listening')
    this.#port = (tcp.address() as AddressInfo).port
    this.#tcp = tcp
    const udp = createSocket('udp4')
    udp.on('message', async (message, from) => {
      if (this.silent) return
      const answer = this.junk ?? (await this.#answer(message))
      const forged = this.forged?.(answer, from)
      await this.pausedBy?.()
      if (forged !== undefined) udp.send(forged, from.port, from.address)
      udp.send(answer.length > MOST_OCTETS ? cut(answer, message) : answer, from.port, from.address)
    })
    udp.bind(this.#port, '127.0.0.1')
    await once(udp, 'listening')
    this.#udp = udp
  }

  async close(): Promise<void> {
    this.#udp?.close()
    await new Promise((resolve) => this.#tcp?.close(resolve))
  }

  async #answer(message: Buffer): Promise<Buffer> {
    const { name, type, end } = questionIn(message)
    const url = `http://name.server/?name=${name}&type=${TYPES[type]}`
    const response = await this.#doh.fetch(new Request(url, { headers: { accept: 'application/dns-json' } }))
    const { Status, Answer = [] } = (await response.json()) as JsonAnswer
    const head = Buffer.from(message.subarray(0, end))
    head.writeUInt16BE((this.cutsAll ? 0x8380 : 0x8180) | Status, 2)
    head.writeUInt16BE(Answer.length, 6)
    head.writeUInt16BE(0, 8)
    head.writeUInt16BE(0, 10)
    const rows = Answer.map((row) => {
      const data = dataOf(row.type, row.data)
      const fixed = Buffer.alloc(10)
      fixed.writeUInt16BE(row.type, 0)
      fixed.writeUInt16BE(1, 2)
      fixed.writeUInt32BE(row.TTL, 4)
      fixed.writeUInt16BE(data.length, 8)
      // The name of the question is at octet 12: a pointer to it.
      return Buffer.concat([row.name === name ? Buffer.from([0xc0, 12]) : nameOctets(row.name), fixed, data])
    })
    return Buffer.concat([head, ...rows])
  }
}

function questionIn(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

/** The head alone, marked as truncated. */
function cut(answer: Buffer, question: Buffer): Buffer {
  const head = Buffer.from(answer.subarray(0, questionIn(question).end))
  head.writeUInt16BE(head.readUInt16BE(2) | 0x0200, 2)
  head.writeUInt16BE(0, 6)
  return head
}

function nameOctets(name: string): Buffer {
  const labels = name.replace(/\.$/, '').split('.').filter(Boolean)
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.from([0]),
  ])
}

function dataOf(type: number, data: string): Buffer {
  if (type === 1) return Buffer.from(data.split('.').map(Number))
  if (type === 5) return nameOctets(data)
  if (type === 16) return Buffer.concat([Buffer.from([data.length]), Buffer.from(data)])
  if (type === 28) {
    const [front = '', back] = data.split('::')
    const groups = (text: string | undefined) => (text ? text.split(':') : [])
    const zeros = Array(8 - groups(front).length - groups(back).length).fill('0')
    return Buffer.from(
      [...groups(front), ...zeros, ...groups(back)].flatMap((group) => {
        const value = Number.parseInt(group, 16)
        return [value >> 8, value & 0xff]
      }),
    )
  }
  const [priority, weight, port, target] = data.split(' ')
  const numbers = Buffer.alloc(6)
  for (const [i, each] of [priority, weight, port].entries()) numbers.writeUInt16BE(Number(each), i * 2)
  return Buffer.concat([numbers, nameOctets(target as string)])
}
