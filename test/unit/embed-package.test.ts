import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { assets } from '../support/pages/page-renderer.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const run = promisify(execFile);
const project = path.join(import.meta.dirname, '..', '..');
const folder = path.join(project, 'services', 'forms', 'embed');
const tsc = path.join(project, 'node_modules', 'typescript', 'bin', 'tsc');

/** A project of somebody else's with the packed package installed. */
async function install(): Promise<string> {
  const home = await temporaryFolder();
  const { stdout } = await run('npm', ['pack', folder, '--pack-destination', home, '--json', '--silent'], {
    cwd: home,
  });
  const file = /[\w.-]+\.tgz/.exec(stdout)?.[0] ?? '';
  const target = path.join(home, 'node_modules', 'accord-embed');
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', path.join(home, file), '-C', target, '--strip-components=1']);
  await writeFile(path.join(home, 'package.json'), '{"type":"module"}');
  return home;
}

/** Type-checks a file of a project strictly. @returns what the compiler says. */
async function typeCheck(home: string, source: string): Promise<string> {
  await writeFile(path.join(home, 'use.ts'), source);
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom',
  ];
  const { stdout } = await run(process.execPath, [tsc, ...options, 'use.ts'], { cwd: home }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

describe('the npm package of the embedding script', () => {
  it('is packed with types, which hold for a file that imports it', async () => {
    const home = await install();
    const right = await typeCheck(
      home,
      `import { embed, type Embedded } from 'accord-embed';
       const form: Embedded = embed(document.body, new URL('https://consent.example'), {
         title: 'Consent', colorScheme: 'dark', onEvent: ({ type, detail }) => console.log(type, detail.state, detail.code) });
       form.frame.title = 'Form'; form.remove();`,
    );
    expect(right).toBe('');
    const wrong = await typeCheck(
      home,
      `import { embed } from 'accord-embed';
       embed('#form', 'https://consent.example', { colorScheme: 'blue' });`,
    );
    expect(wrong).toContain(`'"blue"' is not assignable`);
  });

  it('is the file that the instance serves as a module', async () => {
    const served = assets.get('/assets/embed.mjs')?.body.plain.toString();
    expect(served).toBe(await readFile(path.join(folder, 'embed.js'), 'utf8'));
  });
});

describe('an address of the embedding script with a version', () => {
  it('has the content that it had first: a change of the script needs a new version', async () => {
    const known = JSON.parse(await readFile(path.join(folder, 'integrity.json'), 'utf8'));
    const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    const served = (name: string) => {
      const body = assets.get(`/assets/${name}`)?.body.plain ?? '';
      return `sha384-${createHash('sha384').update(body).digest('base64')}`;
    };
    const names = Object.keys(known);
    expect(names).toEqual(expect.arrayContaining([`embed-${version}.js`, `embed-${version}.mjs`]));
    expect(Object.fromEntries(names.map((name) => [name, served(name)]))).toEqual(known);
  });

  it('is kept for a year, and embed.json names it with its hash', () => {
    const { script } = JSON.parse(assets.get('/assets/embed.json')?.body.plain.toString() ?? '');
    const asset = assets.get(script.src);
    expect(asset?.immutable).toBe(true);
    const hash = createHash('sha384')
      .update(asset?.body.plain ?? '')
      .digest('base64');
    expect(script.integrity).toBe(`sha384-${hash}`);
  });
});
