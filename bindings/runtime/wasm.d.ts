declare module '*.wasm' {
  const module: WebAssembly.Module
  export default module
}
declare module '*.wasm?module' {
  const module: WebAssembly.Module
  export default module
}
declare module '*/core-base64.js' {
  export const CORE_BASE64: string
}
declare module '*/build/core.js' {
  export const instantiate: () => unknown
}
declare module '#core' {
  /** The compiled module, or for `evenkeel/js` a function that makes the exports. */
  export function compile(): WebAssembly.Module | (() => unknown)
}
