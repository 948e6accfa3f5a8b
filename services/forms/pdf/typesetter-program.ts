import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** What Node.js has of the JavaScript interface of WebAssembly, as far as it is used here. */
declare namespace WebAssembly {
  /** Compiled code. Threads share it. */
  interface Module {
    readonly [Symbol.toStringTag]: 'WebAssembly.Module';
  }
  function compile(source: Uint8Array): Promise<Module>;
}

/** The compiled typesetter: Typst, as WebAssembly. */
export type TypesetterProgram = WebAssembly.Module;

/** Compiles the typesetter, in threads of V8. It is done once for a process (ADR 21). */
export async function compileTypesetter(): Promise<TypesetterProgram> {
  const file = import.meta.resolve('@myriaddreamin/typst-ts-web-compiler/wasm');
  return WebAssembly.compile(await readFile(fileURLToPath(file)));
}
