/** @module The conformance as a Worker: context as the request's body, report as the response's. */

import type { Fetcher } from 'evenkeel'
import type { Context } from '../../conformance/case.js'
import { runAll } from '../../conformance/run.js'

export default {
  async fetch(request: Request, env: { BACKEND_A: Fetcher }): Promise<Response> {
    const context = { ...((await request.json()) as Context), binding: env.BACKEND_A }
    return Response.json(await runAll(context, (name) => console.error(name)))
  },
}
