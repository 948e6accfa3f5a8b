import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('../../services/', import.meta.url));
const templates = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.pug'),
);

describe('every template', () => {
  it('is found', () => expect(templates.length).toBeGreaterThan(10));

  // `&attributes` does not escape its values.
  it.each(templates)('%s escapes all it shows', (file) => {
    const lines = readFileSync(`${folder}/${file}`, 'utf8').split('\n');
    expect(
      lines.filter((line) => /!=\s|!\{|^\s*\S*!=(?!=)|&attributes/.test(line.replaceAll('!==', ''))),
    ).toEqual([]);
  });

  it.each(templates)('%s has no inline script or handler', (file) => {
    const source = readFileSync(`${folder}/${file}`, 'utf8');
    expect(source).not.toMatch(/^\s*script\.|[(\s]on[a-z]+=|javascript:/m);
  });

  // Mail clients drop style sheets.
  const ofMails = ['forms/views/message.pug', 'forms/views/mixins/styled.pug'];
  it.each(templates.filter((file) => !ofMails.includes(file)))('%s has no inline style', (file) => {
    expect(readFileSync(`${folder}/${file}`, 'utf8')).not.toMatch(/^\s*style\b|[(\s]style=/m);
  });
});
