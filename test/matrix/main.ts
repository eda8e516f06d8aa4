/**
 * Runs the conformance on every runtime: those of `npm ci`, Node 22, 24 and 26, Chromium and the edge VM, and what wrangler
 * would deploy. Installs
 * what is missing of those it runs.
 *
 *     tsx test/matrix/main.ts [NAME …] [--json FILE]
 */
import { bundledRuntimes } from '../runtime/bundled.js'
import { chromium } from '../runtime/chromium.js'
import { runFromCommandLine } from '../runtime/cli.js'
import { edgeVm } from '../runtime/edge-vm.js'
import { installedChromium } from './chromium.js'
import { nodesOfTheMatrix } from './nodes.js'
import { wrangler } from './wrangler.js'

const runtimes = [
  ...(await bundledRuntimes()),
  ...nodesOfTheMatrix(),
  edgeVm(),
  ...chromium(installedChromium),
  wrangler(),
]
await runFromCommandLine(runtimes, runtimes)
