/**
 * Runs the conformance on the runtimes that come with `npm ci`, or on those named, the edge VM and an installed
 * Chromium among them.
 *
 *     tsx test/runtime/main.ts [node node-js deno bun workerd edge-vm chromium chromium-csp] [--json FILE]
 */
import { bundledRuntimes } from './bundled.js'
import { chromium } from './chromium.js'
import { runFromCommandLine } from './cli.js'
import { edgeVm } from './edge-vm.js'

const bundled = await bundledRuntimes()
await runFromCommandLine([...bundled, edgeVm(), ...chromium()], bundled)
