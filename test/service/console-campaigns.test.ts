import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { draftCampaign, makeAskedElement } from '../support/instances/live-campaigns.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
let clerk: ConsolePages;
beforeAll(async () => {
  clerk = await openPages(instance, 'clerk');
});
afterAll(() => clerk?.close());

const here = '/console/campaigns';
const page = async (path: string) => (await clerk.get(path)).text();

it('from an element one sees who is asked again and why, the text in each language, invites, pauses and goes on', async () => {
  const element = await makeAskedElement(admin);
  const ann = await element.answered();
  await element.answered('refused');
  await element.change();
  const other = await openPages(instance, 'admin');
  onTestFinished(() => other.close());
  const shown = await (await other.get(`/console/elements/${element.key}`)).text();
  expect(shown).toContain(`campaigns/new?element=${element.key}`);

  const drafted = await clerk.fill(`${here}/new?element=${element.key}`, {
    name: 'A new text',
    who: 'CHANGED',
    layout: '-',
    within: 'P30D',
    perMinute: '600',
    reminders: '0',
    from: '00:00',
    to: '24:00',
  });
  const path = new URL(drafted.headers.get('location') ?? '', clerk.origin).pathname;
  const draft = await page(`${path}?wait=true`);
  expect(draft).toContain('2 people have to be asked again. One of them would be written to.');
  expect(draft).toContain(ann);
  expect(draft).toContain(`${ann[0]}…@example.org`);
  expect(draft).toContain('Refused or withdrew');
  for (const text of ['You are asked for your answer', 'Votre réponse est demandée', 'طلب إجابة منك'])
    expect(draft).toContain(text);

  expect(await page(`${path}/start`)).toContain('One person gets a message');
  await clerk.fill(`${path}/start`, {});
  await until(async () => expect(await page(`${path}?wait=true`)).toContain('Written to'));
  await clerk.post(`${path}/pause`, {});
  expect(await page(path)).toContain('Paused');
  await clerk.post(`${path}/continue`, {});
  expect(await page(path)).toContain('Running');
  await clerk.fill(`${path}/cancel`, {});
  expect(await page(path)).toContain('Cancelled');
  expect(await page(`${path}/people?state=ANSWERED`)).not.toContain(ann);
});

it('a draft says what its form asks besides, and no form is chosen beforehand if there are several', async () => {
  const [element, other] = [await makeAskedElement(admin), await makeAskedElement(admin)];
  const content = { type: 'layout', elements: [element.key, other.key] };
  const form = await makeLiveModel(admin, 'layout', { en: content });
  const draft = await draftCampaign(admin, { ...element, context: { layout: form.key } });
  const html = await page(`${here}/${draft}`);
  const [, besides] = html.split('The form also asks');
  expect(besides?.slice(0, 400)).toMatch(/A processing.*unless they have a valid answer/s);
  const alone = await draftCampaign(admin, element);
  expect(await page(`${here}/${alone}`)).not.toContain('The form also asks');

  const chosen = /<option value="" selected[^>]*>Choose a form</;
  expect(await page(`${here}/new`)).toMatch(chosen);
  const fields = { name: 'None', who: 'CHANGED', within: 'P30D', layout: '' };
  expect((await clerk.fill(`${here}/new`, fields)).status).toBe(422);
  expect(await page(`${here}/new?form=${form.key}`)).toContain(`<option value="${form.key}" selected`);
  // After a fault the page is still about the element that it was opened for.
  const faulty = await clerk.fill(`${here}/new?element=${element.key}`, { ...fields, layout: '-', who: '' });
  expect(faulty.status).toBe(422);
  expect(await faulty.text()).toContain('<option value="-" selected');
});

it('who may only read sees campaigns without anything to do, and an author and a technician see none', async () => {
  const element = await makeAskedElement(admin);
  const id = await draftCampaign(admin, element);
  const auditor = await openPages(instance, 'auditor');
  onTestFinished(() => auditor.close());
  const html = await (await auditor.get(`${here}/${id}`)).text();
  expect(html).toContain('Asked again');
  expect(html).not.toMatch(/\/(?:start|edit|cancel)"/);
  expect((await auditor.get(`${here}/new`)).status).toBe(403);
  for (const role of ['author', 'technician'] as const) {
    const other = await openPages(instance, role);
    onTestFinished(() => other.close());
    expect((await other.get(here)).status, role).toBe(403);
  }
});
