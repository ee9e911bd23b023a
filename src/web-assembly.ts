import { readFileSync } from 'node:fs'

/** The part of the standard that is used: its types come only with those of browsers. */
declare const WebAssembly: {
  Module: {
    new (code: Uint8Array): WasmModule
    imports(module: WasmModule): { module: string; name: string }[]
  }
  Instance: new (module: WasmModule, imports: WasmImports) => { exports: Record<string, unknown> }
  RuntimeError: new () => Error
}

/** Compiled code, of which any number of instances can be made. */
export type WasmModule = { readonly [brand]: never }
declare const brand: unique symbol

/** The functions that an instance may call, by module and name. */
export type WasmImports = Record<
  string,
  Record<string, (...values: number[]) => number | undefined>
>

/** Memory of an instance. Growing it replaces `buffer`. */
export type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

/** Bytes of a page, the unit in which memory grows. */
export const WASM_PAGE = 65_536

/** Compiles a file. Takes some 4 ms per megabyte. */
export function compileWasm(file: URL): WasmModule {
  return new WebAssembly.Module(readFileSync(file))
}

/** Returns what a module imports. */
export function listImports(module: WasmModule): { module: string; name: string }[] {
  return WebAssembly.Module.imports(module)
}

/** Makes an instance; returns its exports. */
export function instantiateWasm(
  module: WasmModule,
  imports: WasmImports = {},
): Record<string, unknown> {
  return new WebAssembly.Instance(module, imports).exports
}

/** Returns whether an error is one of the code of an instance, which then is in no known state. */
export function isWasmCrash(error: unknown): error is Error {
  return error instanceof WebAssembly.RuntimeError
}
