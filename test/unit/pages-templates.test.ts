import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keptTexts } from '#lib/cache/keep-text.ts';
import { loadTemplates } from '#lib/pages/load-templates.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const folder = fileURLToPath(new URL('../../services/', import.meta.url));
const templates = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.pug'),
);

describe('every template', () => {
  it('is found', () => expect(templates.length).toBeGreaterThan(10));

  // HTML that forms/views/rich.pug wrote from a tree, and that is escaped already.
  const isWritten = (line: string) => /^\s*\.rich\(.*\)!= written\.html$/.test(line);

  // `&attributes` does not escape its values.
  it.each(templates)('%s escapes all it shows', (file) => {
    const lines = readFileSync(`${folder}/${file}`, 'utf8').split('\n');
    const isRich = file.endsWith('mixins/rich.pug');
    expect(lines.filter(isWritten)).toHaveLength(isRich ? 1 : 0);
    expect(
      lines.filter(
        (line) => !isWritten(line) && /!=\s|!\{|^\s*\S*!=(?!=)|&attributes/.test(line.replaceAll('!==', '')),
      ),
    ).toEqual([]);
  });

  it.each(templates)('%s has no inline script or handler', (file) => {
    const source = readFileSync(`${folder}/${file}`, 'utf8');
    expect(source).not.toMatch(/^\s*script\.|[(\s]on[a-z]+=|javascript:/m);
  });

  // Those of mails, which clients drop style sheets from, are in lib/mail.
  it.each(templates)('%s has no inline style', (file) => {
    expect(readFileSync(`${folder}/${file}`, 'utf8')).not.toMatch(/^\s*style\b|[(\s]style=/m);
  });
});

it('two lists of templates of one folder keep their compiled code beside each other', async () => {
  const folder = pathToFileURL(`${await temporaryFolder()}/console/pages/views/`);
  await mkdir(folder, { recursive: true });
  for (const name of ['one', 'other']) await writeFile(new URL(`${name}.pug`, folder), `p ${name}`);
  const files = () =>
    readdirSync(keptTexts).filter((file) => /^template-console-pages-(one|other)\./.test(file));
  onTestFinished(() => files().forEach((file) => void rmSync(new URL(file, keptTexts))));
  expect(loadTemplates(folder, ['one']).one()).toBe('<p>one</p>');
  expect(loadTemplates(folder, ['other']).other()).toBe('<p>other</p>');
  expect(files()).toHaveLength(2);
});
