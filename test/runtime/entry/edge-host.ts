/**
 * @module Node as the host of an edge VM: hands it the compiled core, evaluates the script that is its first argument
 * with the context that is its second, prints the report.
 */
import { readFile } from 'node:fs/promises'
import { EdgeVM } from '@edge-runtime/vm'

const [script = '', context = '', core = ''] = process.argv.slice(2)
const compiled = new WebAssembly.Module(await readFile(core))
const vm = new EdgeVM({
  codeGeneration: { strings: false, wasm: false },
  // As Next.js does: what a bundle imports as '….wasm?module' is a global that the host has compiled.
  extend: (globals) => Object.assign(globals, { wasm_core: compiled }),
})
const refused = vm.evaluate<boolean>(`
  (() => {
    try { new Function('return 1')() } catch { try { new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])) } catch { return true } }
    return false
  })()
`)
if (!refused) throw new Error('this VM generates code: the test would show nothing')
vm.evaluate(await readFile(script, 'utf8'))
console.log(JSON.stringify(await vm.evaluate<Promise<unknown>>(`conformance(${context})`)))
