import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Types of the part of the WebAssembly API that is used here. */
declare namespace WebAssembly {
  /** Compiled code. Threads share it. */
  interface Module {
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }
  function compile(source: Uint8Array): Promise<Module>;
}

/** The compiled typesetter: Typst, as WebAssembly. */
export type TypesetterProgram = WebAssembly.Module;

/** Compiles the typesetter, once in a process (ADR 21). V8 compiles in background threads. */
export async function compileTypesetter(): Promise<TypesetterProgram> {
  const file = import.meta.resolve('@myriaddreamin/typst-ts-web-compiler/wasm');
  return WebAssembly.compile(await readFile(fileURLToPath(file)));
}
