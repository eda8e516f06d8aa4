/**
 * @module The conformance on a page whose CSP forbids WebAssembly: over evenkeel/js, to which the launcher turns the
 * cases' imports. Here 'evenkeel' is the main entry, and what it does there is one more case.
 */
import { createLoadBalancer } from 'evenkeel'
import type { Report } from '../../conformance/case.js'
import { runAll } from '../../conformance/run.js'
import { exchange } from './exchange.js'

const NAME = 'evenkeel itself gives EVENKEEL_WASM, which names evenkeel/js'

exchange(async (context) => {
  const report = await runAll(context)
  checkRefusal(report)
  return report
})

function checkRefusal(report: Report): void {
  try {
    createLoadBalancer({ services: { orders: ['http://10.0.0.1:80'] } })
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string }
    if (code === 'EVENKEEL_WASM' && message?.includes("'evenkeel/js'")) report.passed++
    else report.failed.push({ name: NAME, error: String(error) })
    return
  }
  report.failed.push({ name: NAME, error: 'WebAssembly was allowed: this CSP is none' })
}
