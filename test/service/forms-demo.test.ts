import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { seedDemo } from '../../services/forms/demo/seed-demo.ts';
import { type FormsService, formsBaseUrl, startForms } from '../support/instances/forms-service.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms({ demo: true });
});
afterAll(() => forms.stop());

const startAgain = () => seedDemo({ db: forms.db, source: formsBaseUrl, wake: () => {} });
const countVersions = async () => (await forms.db.query(sql`SELECT v.id FROM model_versions AS v`)).length;

it('creates the models of the demonstration once, even if the process restarts', async () => {
  const before = await countVersions();
  await startAgain();
  expect(await countVersions()).toBe(before);
});

it('keeps models of the demonstration that users have changed or deleted', async () => {
  const { id } = await (await forms.send('/models/serials/email.001')).json();
  const renamed = await (await forms.send('/models/serials/theme.001')).json();
  await forms.send(`/models/${renamed.id}`, { method: 'PUT', json: { name: 'Ours' } });
  expect((await forms.send(`/models/${id}`, { method: 'DELETE' })).status).toBe(204);
  await startAgain();
  expect((await forms.send('/models/serials/email.001')).status).toBe(404);
  expect(await (await forms.send('/models/serials/theme.001')).json()).toMatchObject({ name: 'Ours' });
});

it('renders every model of the demonstration in each of its languages', async () => {
  const { values } = await (await forms.send('/models?size=200')).json();
  for (const { id, key, versions } of values)
    for (const language of ['en', 'fr', 'ar']) {
      const path = `/models/${id}/versions/${versions[0]?.id}/preview`;
      const page = await forms.send(path, { method: 'POST', json: { language } });
      expect(page.status, `${key} in ${language}`).toBe(200);
      expect(await page.text()).toContain(`<html lang="${language}"`);
    }
});
