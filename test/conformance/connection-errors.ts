/** @module What this runtime's fetch really throws when a connection fails, and what it throws otherwise. */

import { expect } from 'chai'
import { isCircuitTripping, isConnectionError, retryHandler } from 'evenkeel'
import type { Case, Context } from './case.js'
import { rejected } from './errors-of.js'
import { describe } from './failure-text.js'

function expectJudged(error: unknown, isConnection: boolean): void {
  expect(isConnectionError(error), describe(error)).to.equal(isConnection)
}

const FAILING: [string, (context: Context) => string][] = [
  ['a refused connection', ({ backends }) => `${backends.refused}/x`],
  ['a connection closed without an answer', ({ backends }) => `${backends.a}/close`],
  ['a connection reset', ({ backends }) => `${backends.a}/reset`],
  ['a connection closed within the headers', ({ backends }) => `${backends.a}/half`],
]

export const cases: Case[] = [
  ...FAILING.map(([what, url]) => ({
    name: `connection error: ${what}`,
    async run(context: Context) {
      const error = await rejected(fetch(url(context)))
      expectJudged(error, true)
      expectJudged(new Error('wrapped', { cause: error }), true)
      expect(isCircuitTripping({ error }), describe(error)).to.equal(true)
    },
  })),
  {
    name: 'connection error: with a POST and a body as well',
    async run(context) {
      for (const [, url] of FAILING) {
        expectJudged(await rejected(fetch(url(context), { method: 'POST', body: 'text' })), true)
      }
    },
  },
  {
    name: 'connection error: one that was made and broke may have carried a POST out',
    async run(context) {
      const { retriable } = retryHandler()
      for (const [what, url] of FAILING) {
        const error = await rejected(fetch(url(context)))
        expect(retriable({ error, method: 'GET' }, true), describe(error)).to.equal(true)
        // Workers and browsers do not say whether it was made.
        const isUnsent = what === 'a refused connection' && !/^(workerd|chromium|firefox|webkit)/.test(context.runtime)
        expect(retriable({ error, method: 'POST' }, false), describe(error)).to.equal(isUnsent)
      }
    },
  },
  {
    name: 'connection error: an invalid header is none',
    async run(context) {
      const fetched = async () => fetch(context.backends.a, { headers: { 'bad header': 'x' } })
      expectJudged(await rejected(fetched()), false)
    },
  },
  {
    name: 'connection error: an unreadable URL is none',
    async run() {
      expectJudged(await rejected((async () => fetch('http://'))()), false)
      expectJudged(await rejected((async () => fetch('http://10.0.0.1:99999/'))()), false)
    },
  },
  {
    name: 'connection error: an unknown scheme is none',
    needs: 'name-bad-scheme',
    async run() {
      expectJudged(await rejected((async () => fetch('nosuch://10.0.0.1/x'))()), false)
    },
  },
  {
    name: 'connection error: an abort is none',
    async run(context) {
      const signal = AbortSignal.abort()
      expectJudged(await rejected(fetch(`${context.backends.a}/x`, { signal })), false)
    },
  },
  {
    name: 'connection error: anything else is none',
    run() {
      for (const other of [undefined, null, 'ECONNREFUSED', 5, {}, new Error('no'), new TypeError('bad argument')]) {
        expectJudged(other, false)
      }
    },
  },
]
