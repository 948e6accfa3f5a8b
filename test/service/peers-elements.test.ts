import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { activateContent, type LiveModel, makeLiveModel } from '../support/instances/live-models.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';
import { startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { patience } from '../support/run/patience.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Entry = components['schemas']['Entry'];
type Peer = components['schemas']['Peer'];

let clinic: TestInstance;
let lab: TestInstance;
let clinicAdmin: Caller;
let labAdmin: Caller;
let study: LiveModel;
let seenByLab: Peer;
let isLabAway = false;
beforeAll(async () => {
  [clinic, lab] = await Promise.all([
    startTestInstance({ INSTANCE_NAME: 'Lakeside Clinic' }),
    startTestInstance({ INSTANCE_NAME: 'Northern Lab' }),
  ]);
  [clinicAdmin, labAdmin] = await Promise.all([signIn(clinic, 'admin'), signIn(lab, 'admin')]);
  study = await makeLiveModel(labAdmin, 'processing', {
    en: { ...sampleContent.processing, title: 'A study of sleep' },
    fr: { ...sampleContent.processing, title: 'Une étude du sommeil' },
  });
  await change(study.key, { shared: true });
  ({ here: seenByLab } = await pairInstances(clinic, lab));
}, 60_000);
afterAll(async () => {
  await clinic?.stop();
  if (!isLabAway) await lab?.stop();
});

async function change(key: string, changes: Partial<Entry>): Promise<void> {
  const entry = (await (await labAdmin.get(`/models/serials/${key}`)).json()) as Entry;
  expect((await labAdmin.send('PUT', `/models/${entry.id}`, { name: entry.name, ...changes })).status).toBe(
    200,
  );
}
const named = (key = study.key) => `${key}@${new URL(lab.url).host}`;
const preview = (elements: string[], headers: Record<string, string> = {}) =>
  clinicAdmin.send('POST', '/consents/preview', { layoutData: { elements } }, headers);
/** The page of a preview, as soon as it is as it should be. */
const shows = (elements: string[], ...texts: string[]) =>
  vi.waitFor(
    async () => {
      const page = await (await preview(elements)).text();
      for (const text of texts) expect(page).toContain(text);
      return page;
    },
    { timeout: 15_000, interval: 100 },
  );
const refuses = (elements: string[], status = 422) =>
  vi.waitFor(async () => expect((await preview(elements)).status).toBe(status), {
    timeout: 15_000,
    interval: 100,
  });
/** Has the clinic look at once, as it does each minute. */
const letMinutePass = () =>
  rowsOf(clinic, 'UPDATE peers.catalogues SET due_at = peers.accord_now()').then(() => undefined);

describe('an instance that is paired with another', () => {
  it('shows the shared elements of the peer, under its name and information, right after pairing', async () => {
    const page = await shows(['processing.001', named()], 'A study of sleep');
    expect(page).toContain('Questions from Northern Lab');
    expect(page.indexOf('name="element/processing/processing.001/1.0"')).toBeLessThan(
      page.indexOf(`name="element/processing/${named()}/1.0"`),
    );
    expect(page).toContain(`value="element/processing/${named()}/1.0"`);
  });

  it('shows it in the language of the form', async () => {
    const page = await (await preview([named()], { 'Accept-Language': 'fr' })).text();
    expect(page).toContain('Une étude du sommeil');
    expect(page).toContain('Questions de Northern Lab');
  });

  it("asks a subject the peer's elements", async () => {
    const body = { subject: 'ann', layoutData: { elements: ['processing.001', named()] } };
    expect((await clinicAdmin.send('POST', '/consents', body)).status).toBe(201);
  });

  it('shows no elements that are not shared', async () => {
    const refused = await preview([named('processing.002')]);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('This form is not set up correctly');
  });

  it('does not list the other’s elements among its own', async () => {
    const listed = (await (await clinicAdmin.get('/models?size=200')).json()) as { values: Entry[] };
    expect(listed.values.map(({ key }) => key)).not.toContain(study.key);
    expect((await clinicAdmin.get(`/models/serials/${study.key}`)).status).toBe(404);
  });

  it('shows new versions of the peer within two seconds', async () => {
    for (const [title, kind, serial] of [
      ['A study of dreams', 'MINOR', '1.1'],
      ['A study of nightmares', 'MAJOR', '2.0'],
    ] as const) {
      const begun = Date.now();
      await activateContent(labAdmin, study, { en: { ...sampleContent.processing, title } }, kind);
      await shows([named()], title, `element/processing/${named()}/${serial}`);
      // The promise is two seconds; the machine that tests may be busy.
      expect(Date.now() - begun).toBeLessThan(15_000);
    }
  });

  it('follows elements that are shared with it alone, and their withdrawal', async () => {
    const other = await startOwnPeer();
    const { key: apiKey } = await createKey(lab, 'another partner', 'PEER');
    const introduction = { pairing: randomUUID(), apiKey, description: await other.describe() };
    expect((await other.send(lab.url, 'POST', '/federation/pairing', introduction)).status).toBe(200);
    await other.close();
    const peers = (await (await labAdmin.get('/peers')).json()) as Peer[];
    const somebodyElse = peers.find(({ url }) => url === other.url) as Peer;
    await change('processing.002', { shared: true, sharedWith: [somebodyElse.id] });
    await letMinutePass();
    await refuses([named('processing.002')]);
    expect((await labAdmin.send('DELETE', `/peers/${somebodyElse.id}`)).status).toBe(204);
    await change('processing.002', { shared: true, sharedWith: [seenByLab.id] });
    await shows([named('processing.002')], 'Questions from Northern Lab');
    await change('processing.002', { shared: false });
    await refuses([named('processing.002')]);
  });

  it('withdraws elements that the peer has deleted', async () => {
    const brief = await makeLiveModel(labAdmin, 'preference', { en: sampleContent.preference });
    await change(brief.key, { shared: true });
    await shows([named(brief.key)], 'Daily');
    expect((await labAdmin.send('DELETE', `/models/${brief.id}`)).status).toBe(204);
    await refuses([named(brief.key)]);
  });

  it('reports the last contact with the peer', async () => {
    const [peer] = (await (await clinicAdmin.get('/peers')).json()) as [Peer];
    await letMinutePass();
    await vi.waitFor(async () => {
      const [later] = (await (await clinicAdmin.get('/peers')).json()) as [Peer];
      expect(later.lastContactDate).toBeGreaterThan(peer.lastContactDate as number);
    }, patience);
  });

  it('forgets the copies when either ends the pairing, and reads them anew after the next', async () => {
    const [peer] = (await (await labAdmin.get('/peers')).json()) as [Peer];
    expect((await labAdmin.send('DELETE', `/peers/${peer.id}`)).status).toBe(204);
    await refuses([named()]);
    await vi.waitFor(
      async () => expect(await rowsOf(clinic, 'SELECT url FROM forms.peers')).toEqual([]),
      patience,
    );
    await pairInstances(clinic, lab);
    await shows([named()], 'A study of nightmares');
  });

  it('shows the same while the peer is unavailable', async () => {
    const before = await (await preview([named()])).text();
    isLabAway = true;
    await lab.stop();
    await letMinutePass();
    await vi.waitFor(async () => {
      const [row] = await rowsOf<{ failures: number }>(clinic, 'SELECT failures FROM peers.catalogues');
      expect(row?.failures).toBeGreaterThan(0);
    }, patience);
    expect(await (await preview([named()])).text()).toBe(before);
  });
});
