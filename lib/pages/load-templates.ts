import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type pug from 'pug';
import { keepText } from '#lib/cache/keep-text.ts';

/** Renders a page as HTML; inserted values are escaped. */
export type Template = pug.compileTemplate;

const require = createRequire(import.meta.url);

const loaded = new Map<string, Template>();

/**
 * Loads pug templates once for a process, compiled from files only, never from input (docs/security.md,
 * "Pages"). The compiled code of each is cached on disk, because compiling all takes a second and 30 MB. It
 * is evaluated at the first use: the code of all pages of the console has 1.5 MB.
 * @param folder holds the templates and the files that they include.
 * @param included further folders with files that they include.
 */
export function loadTemplates<Name extends string>(
  folder: URL,
  names: readonly Name[],
  ...included: readonly URL[]
): Record<Name, Template> {
  const place = folder.pathname.split('/').slice(-4, -2).join('-');
  let sources: string | undefined;
  const load = (name: Name) => {
    const file = new URL(`${name}.pug`, folder);
    const found = loaded.get(file.href);
    if (found) return [name, found] as const;
    sources ??= digest([readVersion(), ...[folder, ...included].flatMap(readSources)]);
    const make = () => compile(file);
    const code = keepText({ name: `template-${place}-${name}`, sources: [sources], make });
    let evaluated: Template | undefined;
    const template: Template = (locals) => {
      evaluated ??= new Function(code)() as Template;
      return evaluated(locals);
    };
    loaded.set(file.href, template);
    return [name, template] as const;
  };
  return Object.fromEntries(names.map(load)) as Record<Name, Template>;
}

function compile(file: URL): string {
  const compiler = require('pug') as typeof pug;
  const code = compiler.compileFileClient(fileURLToPath(file), { doctype: 'html', compileDebug: false });
  return `${code}\nreturn template;`;
}

const digest = (texts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');

function readVersion(): string {
  return (require('pug/package.json') as { version: string }).version;
}

function readSources(folder: URL): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.pug'))
    .sort()
    .flatMap((file) => [file, readFileSync(new URL(file, folder), 'utf8')]);
}
