import { beforeAll, expect, it } from 'vitest';
import { createConsolePerson, submitSignIn } from '../support/console/console-person.ts';
import { typeEverywhere } from '../support/console/type-everywhere.ts';
import { fillInstance } from '../support/console/walk-console.ts';
import { useInstance } from '../support/instances/instance.ts';
import { parsePage } from '../support/pages/parse-page.ts';

const instance = useInstance();
const lab = useInstance({ INSTANCE_NAME: 'Northern Lab' });
beforeAll(() => fillInstance(instance, lab));

it.each([
  ['nothing', ''],
  ['a text that is too long for most members', 'x'.repeat(2_000)],
  ['a text that is no address, key, language or number', '?! ~/☃'],
])('forms that are sent with %s name the field of each fault, and link to it', async (_, text) => {
  const admin = createConsolePerson(instance.url);
  await submitSignIn(admin, await admin.open('/console'), { username: 'admin', password: 'demo' });
  const wrong: string[] = [];
  let faults = 0;
  await typeEverywhere(
    admin,
    () => text,
    ({ path, status, html }) => {
      const page = parsePage(html);
      const ids = new Set(page.elements.map(({ attribs }) => attribs.id).filter(Boolean));
      const summary = /<div class="faults"[\s\S]*?<\/ul>/.exec(html)?.[0] ?? '';
      for (const [item] of summary.matchAll(/<li[\s\S]*?<\/li>/g)) {
        // One of several hidden languages was sent alone, which no browser does.
        if (item.includes('defaultLanguage')) continue;
        faults += 1;
        const [, href = ''] = /href="([^"]+)"/.exec(item) ?? [];
        const [target, id = ''] = href.split('#');
        // Conflicts and refusals of the whole form are about no field.
        if (status === 422 && (href === '' || (target === '' && !ids.has(id))))
          wrong.push(`${path}: ${item}`);
      }
    },
  );
  expect(wrong).toEqual([]);
  expect(faults).toBeGreaterThan(5);
});
