import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type pug from 'pug';
import { keepText } from '#lib/cache/keep-text.ts';

/** Renders a page as HTML; inserted values are escaped. */
export type Template = pug.compileTemplate;

const require = createRequire(import.meta.url);

/**
 * Loads pug templates, compiled from files only, never from input (docs/security.md, "Pages"). The compiled
 * code is cached on disk, because compiling takes a second and 30 MB.
 * @param folder holds the templates and the files that they include.
 * @param included further folders with files that they include.
 */
export function loadTemplates<Name extends string>(
  folder: URL,
  names: readonly Name[],
  ...included: readonly URL[]
): Record<Name, Template> {
  const code = keepText({
    name: `templates-${folder.pathname.split('/').slice(-4, -2).join('-')}`,
    sources: [names.join(), readVersion(), ...[folder, ...included].flatMap(readSources)],
    make: () => compileAll(folder, names),
  });
  return new Function(code)() as Record<Name, Template>;
}

function compileAll(folder: URL, names: readonly string[]): string {
  const compiler = require('pug') as typeof pug;
  const members = names.map((name) => {
    const file = fileURLToPath(new URL(`${name}.pug`, folder));
    const code = compiler.compileFileClient(file, { doctype: 'html', compileDebug: false });
    return `${JSON.stringify(name)}: (() => { ${code}\nreturn template; })()`;
  });
  return `return {\n${members.join(',\n')}\n};`;
}

function readVersion(): string {
  return (require('pug/package.json') as { version: string }).version;
}

function readSources(folder: URL): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.pug'))
    .sort()
    .flatMap((file) => [file, readFileSync(new URL(file, folder), 'utf8')]);
}
