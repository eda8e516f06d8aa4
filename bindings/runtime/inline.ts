/** @module Node, Deno, Bun, browsers, bundlers: the core travels as text and is compiled on first use. */

import { CORE_BASE64 } from '../../build/core-base64.js'

export function compile(): WebAssembly.Module {
  return new WebAssembly.Module(decode(CORE_BASE64))
}

/** By what the host has of its own: a loop over the text costs more than compiling what it says. */
function decode(base64: string): Uint8Array<ArrayBuffer> {
  const host = globalThis as { Buffer?: { from(text: string, encoding: 'base64'): Uint8Array<ArrayBuffer> } }
  if (host.Buffer !== undefined) return host.Buffer.from(base64, 'base64')
  const modern = Uint8Array as unknown as { fromBase64?(text: string): Uint8Array<ArrayBuffer> }
  if (modern.fromBase64 !== undefined) return modern.fromBase64(base64)
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}
