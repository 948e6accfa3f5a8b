'use strict';
const { mkdirSync, readdirSync, symlinkSync } = require('node:fs');
const { enableCompileCache, getCompileCacheDir } = require('node:module');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { cachedDataVersionTag } = require('node:v8');

/** What compile.ts has filled: a folder that Node.js has named after the machine that built the image. */
const compiled = path.join(__dirname, '..', '..', 'compiled');

/**
 * Node.js looks for a folder with its version, the features of this CPU and the user in the name. The compiled
 * code depends on the version only, and V8 checks that before it uses it, so the folder gets a second name.
 * @returns where Node.js finds the compiled code
 */
function nameForThisMachine() {
  const [built = ''] = readdirSync(compiled);
  const release = `${process.version}-${process.arch}`;
  const name = `${release}-${cachedDataVersionTag().toString(16).padStart(8, '0')}-${process.getuid()}`;
  if (built === name || !built.startsWith(`${release}-`)) return compiled;
  const links = path.join(tmpdir(), `accord-compiled-${process.getuid()}`);
  mkdirSync(links, { recursive: true, mode: 0o700 });
  try {
    symlinkSync(path.join(compiled, built), path.join(links, name));
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return links;
}

try {
  // Environment NODE_COMPILE_CACHE has precedence.
  if (!getCompileCacheDir()) enableCompileCache(nameForThisMachine());
} catch {
  // Without compiled code or a place for the link the program compiles its code itself.
}
