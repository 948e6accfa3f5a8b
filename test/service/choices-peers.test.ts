import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import type { ShownChoices } from '../support/instances/choices-visitor.ts';
import type { TestInstance } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { recordsOf } from '../support/instances/live-transactions.ts';
import { type ClinicAndLab, own, startClinicAndLab } from '../support/peers/clinic-and-lab.ts';
import { until } from '../support/run/until.ts';

let world: ClinicAndLab;
let clinicShop: Caller;
let labShop: Caller;
beforeAll(async () => {
  world = await startClinicAndLab();
  [clinicShop, labShop] = await Promise.all([createKey(world.clinic), createKey(world.lab)]);
}, 60_000);
afterAll(() => world?.stop());

const choicesOf = async (shop: Caller, subject: string) => {
  const response = await shop.get(`/choices?subject=${encodeURIComponent(subject)}`);
  return ((await response.json()) as ShownChoices).organisations;
};

/** The path of the page with a session, as the organisation opens it for its person. */
async function pageOf(shop: Caller, subject: string, more: object = {}): Promise<URL> {
  const opened = await shop.send('POST', '/choices', { subject, ...more });
  return new URL(((await opened.json()) as { url: string }).url);
}

const read = async (instance: TestInstance, { pathname, search }: URL) =>
  (await instance.fetch(pathname + search, { headers: { Accept: 'text/html' } })).text();

describe('answers that went to a peer', () => {
  it('are a block with its name, the number of forms and the state, and no answer', async () => {
    const made = await world.consent();
    await world.delivered(made);
    const [here, there, ...others] = await choicesOf(clinicShop, made.subject);
    expect(others).toEqual([]);
    expect(here?.choices?.map(({ identifier }) => identifier)).toEqual([own]);
    expect(there).toEqual({
      name: 'Northern Lab',
      location: world.way.url,
      sent: { forms: 1, last: expect.any(String), state: 'RECEIVED', withdrawable: true, erasable: true },
    });
    const [atLab] = await choicesOf(labShop, made.subject);
    const [theirs] = atLab?.choices ?? [];
    expect(theirs).toMatchObject({
      identifier: 'element/processing/processing.002/1.0',
      answers: ['accepted'],
    });
    const html = await read(world.clinic, await pageOf(clinicShop, made.subject));
    expect(html).toContain('Northern Lab has received and saved answers from you.');
    expect(html).not.toContain(theirs?.title);
    expect(html).not.toContain(theirs?.usage);
  });

  it('are all withdrawn in one click here, and end there', async () => {
    const made = await world.consent();
    await world.delivered(made);
    const page = await pageOf(clinicShop, made.subject);
    const sent = await world.clinic.fetch(`/choices/withdraw${page.search}`, {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams({ peers: world.way.url }),
      redirect: 'manual',
    });
    expect(sent.status).toBe(303);
    const [here, there] = await choicesOf(clinicShop, made.subject);
    expect(here?.choices?.[0]).toMatchObject({ identifier: own, reason: 'GIVEN' });
    expect(there?.sent).toMatchObject({ state: 'WITHDRAWN', withdrawable: false });
    await until(async () => {
      const [record] = (await recordsOf(labShop, made.subject))['processing.002'] ?? [];
      expect(record).toMatchObject({ value: 'refused', origin: 'PEER' });
    });
    await until(async () => {
      const [, told] = await choicesOf(clinicShop, made.subject);
      expect(told?.sent?.withdrawal).toMatchObject({ state: 'ACKNOWLEDGED' });
    });
  });

  it('have their page behind the final page of the person, who holds its link, and of nobody else', async () => {
    const made = await world.consent();
    const final = (headers: Record<string, string>, query = '') =>
      world.clinic.fetch(`/consents/${made.id}${query}`, { headers: { Accept: 'text/html', ...headers } });
    await world.delivered(made);
    const page = await (await final({}, `?t=${made.token}`)).text();
    const [, sid] = /href="[^"]*\/choices#from=(\w{22})"[^>]*>My choices at Northern Lab/.exec(page) ?? [];
    expect(page).toContain(`href="${world.way.url}/choices#from=${sid}"`);
    const ofStaff = await (await final(clinicShop.headers)).text();
    expect(ofStaff).toContain('Northern Lab');
    expect(ofStaff).not.toContain('/choices#from=');
    // A peer of an earlier release announces no page.
    await runInDatabase(
      world.clinic,
      "UPDATE forms.known_peers SET choices = array_fill(''::text, ARRAY[cardinality(choices)])",
    );
    expect(await (await final({}, `?t=${made.token}`)).text()).not.toContain('/choices#from=');
  });

  it('are only named in a frame', async () => {
    const made = await world.consent();
    await world.delivered(made);
    const iframeOrigin = 'https://shop.example';
    const html = await read(world.clinic, await pageOf(clinicShop, made.subject, { iframeOrigin }));
    expect(html).toContain('Northern Lab');
    expect(html).not.toContain('name="peers"');
  });
});
