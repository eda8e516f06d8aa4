/** @module Deno: the conformance may use the network of loopback, importing and picking nothing at all. */

import { strictEqual } from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { outputOf } from './child.js'
import { ROOT } from './consumer.js'
import { reportOf } from './program.js'
import { addCase, type Runtime, runtimeOf } from './runtime.js'

const PICKING = `import { createLoadBalancer } from 'evenkeel'
const lb = createLoadBalancer({ services: { orders: ['http://10.0.0.1:80', 'http://10.0.0.2:80'] } })
const lease = lb.pick('orders')
lease.done()
console.log(lease.instance.serviceId)
`

export function deno(): Runtime {
  return runtimeOf('deno', {}, async (context, folder) => {
    const command = join(ROOT, 'node_modules', '.bin', 'deno')
    const env = { DENO_DIR: join(folder, '.deno'), DENO_NO_UPDATE_CHECK: '1' }
    const args = ['run', '--no-prompt', '--no-remote', '--no-lock']
    const report = await reportOf({ command, args: [...args, '--allow-net=127.0.0.1'], env }, context, folder)
    await addCase(report, 'importing evenkeel and picking needs no permission', async () => {
      const file = join(folder, 'picking.js')
      await writeFile(file, PICKING)
      strictEqual((await outputOf(command, [...args, file], { cwd: folder, env })).trim(), 'orders')
    })
    return report
  })
}
