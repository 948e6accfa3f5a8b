import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canStandInPath } from '#lib/text/host-name.ts';
import { readContract } from '../support/contract/contract.ts';
import { listOperations } from '../support/contract/contract-paths.ts';
import { createKey, patient, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';

const instance = useInstance();
const admin = useSetup(async () => patient(await signIn(instance, 'admin')));
const shop = useSetup(async () => patient(await createKey(instance)));

/** Names that clients, proxies and consoles could change on the way. */
const oddNames = [
  '.',
  '..',
  '...',
  '. .',
  'a/..',
  '../a',
  'a/../b',
  './a',
  'a/.',
  '..\\a',
  'a\\..\\b',
  '/',
  '//',
  'a/b',
  '/a',
  'a//b',
  '\\',
  'a\\b',
  '%',
  '%2e',
  '%2E%2e',
  '%2F',
  '%00',
  '?',
  '#',
  'a?b#c',
  ';',
  'a;b=c',
  '&',
  '+',
  'a b',
  'a.',
  '.a',
  '..a',
  'a..',
  '\u0001',
  'a\tb',
  'a\r\nb',
  '\u200b',
  '\u202e',
  'e\u0301',
  '\ufb01',
  '😀'.repeat(100),
  'x'.repeat(1024),
  'ü'.repeat(300),
  '\ud800',
  ' ',
  '',
  'constructor',
  '__proto__',
  'http://a.example/',
  'admin',
];

const about = listOperations(readContract()).filter(({ path }) => path.includes('/{name}'));

/** The path as nginx reads it: decoded, with merged slashes, without dot segments. */
function asNginx(path: string): string {
  const merged = decodeURIComponent(path).replaceAll(/[/\\]+/g, '/');
  return merged.split('/').reduce((read, segment) => {
    if (segment === '.') return read;
    return segment === '..' ? read.slice(0, read.lastIndexOf('/')) : `${read}/${segment}`;
  });
}

describe('the name of a person', () => {
  it.each(oddNames)(
    '%j is refused, or every operation that names people in its path reaches it',
    async (name) => {
      const created = await admin.send('POST', '/subjects', JSON.stringify({ name }));
      const byContext = await shop.send(
        'POST',
        '/consents',
        JSON.stringify({ subject: name, layout: 'layout.001' }),
      );
      if (created.status !== 201) {
        expect([400, 422]).toContain(created.status);
        expect([400, 422]).toContain(byContext.status);
        return;
      }
      expect(byContext.status).toBe(201);
      const { id, name: stored } = (await created.json()) as { id: string; name: string };
      const encoded = encodeURIComponent(stored);
      expect(created.headers.get('location')).toBe(`${instance.url}/subjects/${encoded}`);
      expect(about.length).toBeGreaterThan(6);
      for (const { path, method } of about) {
        const target = path.replace('{name}', encoded);
        // What the URL standard makes of it.
        expect(new URL(target, instance.url).pathname).toBe(
          new URL(path.replace('{name}', 'x'), instance.url).pathname.replace('x', encoded),
        );
        expect(asNginx(target).startsWith('/subjects/')).toBe(true);
        if (method === 'get') expect([path, (await admin.get(target)).status]).toEqual([path, 200]);
      }
      const hold = await admin.send('PUT', `/subjects/${encoded}/hold`, { reason: 'a claim' });
      expect(hold.status).toBe(200);
      expect((await admin.send('DELETE', `/subjects/${encoded}/hold`)).status).toBe(204);
      expect((await admin.send('PUT', `/subjects/${id}`, { defaultLanguage: 'fr' })).status).toBe(200);
      expect((await admin.send('POST', `/subjects/${encoded}/erasure`)).status).toBe(202);
    },
  );

  it.each(['.', '..', '../a', 'a\\..'])('%j is refused with a pointer, wherever it enters', async (name) => {
    const pointers = async (answer: Response) =>
      ((await answer.json()) as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer);
    const body = { subject: name, layout: 'layout.001' };
    expect(await pointers(await shop.send('POST', '/consents', body))).toEqual(['/subject']);
    const step = { context: body, values: {} };
    expect(await pointers(await shop.send('POST', '/consents/singlestep', step))).toEqual([
      '/context/subject',
    ]);
    expect(await pointers(await admin.send('POST', '/subjects', { name }))).toEqual(['/name']);
    expect((await admin.send('POST', '/accounts', { name, role: 'user' })).status).toBe(422);
  });

  it('can stand in a path unless a segment of it is a dot segment', () => {
    const part = fc.constantFrom('.', '..', '/', '\\', 'a', '%2e', ' ', '...');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const name = parts.join('');
        const path = `/subjects/${encodeURIComponent(name)}/export`;
        if (!canStandInPath(name)) return;
        expect(new URL(path, 'http://localhost').pathname).toBe(path);
        expect(asNginx(path)).toMatch(/^\/subjects\/.*\/?export$/s);
      }),
    );
  });
});
