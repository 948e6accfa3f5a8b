import { DomUtils } from 'htmlparser2';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { choicesVisitor } from '../support/instances/choices-visitor.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { tablesWith } from '../support/instances/tables-with.ts';
import { leadsTo, linkIn } from '../support/network/mail-server.ts';
import { startTraceCollector, type TraceCollector } from '../support/network/trace-collector.ts';
import { type Element, parsePage } from '../support/pages/parse-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import {
  type Organisation,
  startThreeOrganisations,
  type ThreeOrganisations,
} from '../support/peers/three-organisations.ts';
import { until } from '../support/run/until.ts';

const browser = useBrowser();
/** People whose answers are looked for everywhere; `CANARIES=10000` is a longer run. */
const canaries = Number(process.env.CANARIES ?? 3);

let traces: TraceCollector;
let world: ThreeOrganisations;
beforeAll(async () => {
  traces = await startTraceCollector();
  world = await startThreeOrganisations({ OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint });
}, 120_000);
afterAll(async () => {
  await world?.stop();
  await traces?.close();
});

const wishes = (address: string) => (of: Organisation) => `wishes of ${address} for ${of}`;
/** What a click on the button of a form sends. */
const fieldsOf = (form: Element | undefined): [string, string][] =>
  DomUtils.getElementsByTagName('input', form ?? []).map(({ attribs }) => [
    attribs.name ?? '',
    attribs.value ?? '',
  ]);
const sidIn = (link: string) => new URL(link).hash.replace('#from=', '');
const identifiersAt = async (visitor: ReturnType<typeof choicesVisitor>) =>
  ((await visitor.read())[0]?.choices ?? []).map(({ identifier }) => identifier.split('/')[2]).sort();
/** The questions of an organisation, by their own keys. */
const keysOf = (of: Organisation) =>
  Object.values(world.questions[of])
    .map((reference) => reference.split('@')[0])
    .sort();

describe('a person with answers at three organisations', () => {
  it('sees those of each with one click and one mail, and finds the way back', async () => {
    const address = 'ann@example.org';
    await world.answer(address, wishes(address));
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(await world.linkFrom('clinic', { address }));
    await page.getByRole('button', { name: 'Open my choices' }).click();
    await page.getByRole('heading', { name: 'My choices', level: 1 }).waitFor();
    for (const [of, name, sender] of [
      ['lab', 'Northern Lab', 'post@lab.example'],
      ['council', 'City Council', 'post@council.example'],
    ] as const) {
      const opens = context.waitForEvent('page');
      await page.getByRole('link', { name: `My choices at ${name}` }).click();
      const there = await opens;
      await there.getByText('If you confirmed your e-mail address there').waitFor();
      // The clinic does not tell the peer who comes.
      expect(there.url()).toMatch(/\/choices#from=[1-9A-HJ-NP-Za-km-z]{22}$/);
      expect(await there.evaluate('document.referrer')).toBe('');
      const { hash } = new URL(there.url());
      expect(await there.locator('.languages a').first().getAttribute('href')).toMatch(`${hash}`);
      await there.getByRole('button', { name: 'Send me the link' }).first().click();
      await there.getByRole('heading', { name: 'Look at your mail' }).waitFor();
      const mail = await until(() => {
        const found = world.mails.to(address).find(({ from }) => from === sender);
        expect(found).toBeDefined();
        return found as NonNullable<typeof found>;
      });
      await there.goto(await leadsTo(linkIn(mail.mail)));
      await there.getByRole('button', { name: 'Open my choices' }).click();
      await there.getByText(`wishes of ${address} for ${of}`).first().waitFor();
      expect(await there.getByText(/wishes of/).count()).toBe(1);
      const back = there.getByRole('link', { name: 'My choices at Lakeside Clinic' });
      expect(await back.getAttribute('href')).toBe(`${world.instances.clinic.url}/choices`);
    }
    await context.close();
  }, 120_000);

  it('withdraws all that was sent from here in one click, without another mail', async () => {
    const address = 'bea@example.org';
    await world.answer(address, wishes(address));
    const bea = await world.open('clinic', { address });
    const before = world.mails.to(address).length;
    const page = parsePage(await (await bea.get('/choices')).text());
    const button = page
      .tagged('form')
      .find((form) => page.text(form).includes('Withdraw everything sent to these organisations'));
    expect((await bea.post(button?.attribs.action ?? '', fieldsOf(button))).status).toBe(303);
    for (const owner of ['lab', 'council'] as const)
      await until(async () => {
        const [record] =
          (await recordsOf(world.admins[owner], address))[
            keysOf(owner).find((key) => key?.startsWith('processing')) ?? ''
          ] ?? [];
        expect(record).toMatchObject({ value: 'refused', origin: 'PEER' });
      });
    expect(world.mails.to(address)).toHaveLength(before);
    // The peer shows that it ended.
    const there = await world.open('lab', { address });
    expect((await there.read())[0]?.choices).toContainEqual(expect.objectContaining({ reason: 'WITHDRAWN' }));
  }, 60_000);

  it('comes there without JavaScript by the plain field for the address', async () => {
    const address = 'cid@example.org';
    await world.answer(address, wishes(address));
    const clinic = await world.open('clinic', { address });
    const { lab } = await world.linksAt(clinic);
    const page: Page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await page.goto(lab);
    expect(await page.locator('[data-from]').isVisible()).toBe(false);
    await page.getByLabel('E-mail address').fill(address);
    await page.getByRole('button', { name: 'Send me the link' }).click();
    await page.getByRole('heading', { name: 'Look at your mail' }).waitFor();
    await until(() =>
      expect(world.mails.to(address).filter(({ from }) => from === 'post@lab.example')).toHaveLength(1),
    );
  }, 60_000);
});

describe('a session that an address of a part opened', () => {
  it('shows and withdraws what these parts brought, and nothing else of the person', async () => {
    const address = 'dan@example.org';
    const shop = await createKey(world.instances.lab);
    await recordAnswers(shop, address, { 'element/processing/processing.001/1.0': ['accepted'] });
    await world.answer(address, wishes(address));
    const dan = await world.open('lab', { address });
    expect(await identifiersAt(dan)).toEqual(keysOf('lab'));
    const page = await (await dan.get('/choices')).text();
    expect(page).toContain('Only what other organisations sent to Northern Lab');
    expect(page).not.toContain('/choices/export');
    expect(page).not.toContain('/receipts/');
    const consent = keysOf('lab').find((key) => key?.startsWith('processing')) as string;
    for (const [path, fields] of [
      ['/choices/change', [['elements', consent]]],
      ['/choices/erasure', []],
    ] as [string, [string, string][]][])
      expect((await dan.post(path, fields)).status).toBe(403);
    expect((await dan.get('/choices/export')).status).toBe(403);
    // What the lab itself collected stays, whether it is named or not.
    expect((await dan.post('/choices/withdraw', [['elements', 'processing.001']])).status).toBe(303);
    const all = await dan.post('/choices/withdraw', [], {
      'Content-Type': 'application/json',
      Accept: 'application/json',
    });
    expect(all.status).toBe(400);
    expect((await dan.post('/choices/withdraw', [['elements', consent]])).status).toBe(303);
    const records = await recordsOf(shop, address);
    expect(records['processing.001']?.[0]).toMatchObject({ value: 'accepted' });
    expect(records[consent]?.[0]).toMatchObject({ value: 'refused' });
    expect((await dan.read())[0]?.choices).toContainEqual(expect.objectContaining({ reason: 'WITHDRAWN' }));
  }, 60_000);

  it('shows everything as soon as the organisation itself knows the address', async () => {
    const address = 'eve@example.org';
    const shop = await createKey(world.instances.lab);
    await recordAnswers(
      shop,
      address,
      { 'element/processing/processing.001/1.0': ['accepted'] },
      { subjectInfos: { emailAddress: address } },
    );
    await world.answer(address, wishes(address));
    const eve = await world.open('lab', { address });
    expect(await identifiersAt(eve)).toEqual(['processing.001', ...keysOf('lab')].sort());
    expect(await (await eve.get('/choices')).text()).toContain('My choices at Lakeside Clinic');
  }, 60_000);
});

describe('an address that only the leader names', () => {
  it('opens nothing: neither its own parts nor the parts in which the person named another one', async () => {
    const address = 'fay@example.org';
    const attacker = 'attacker@clinic.example';
    await world.answer(address, wishes(address));
    const elements = Object.values(world.questions.lab);
    const made = await createTransaction(world.admins.clinic, {
      subject: address,
      layoutData: { elements },
      subjectInfos: { emailAddress: attacker },
    });
    const answers = elements.map((reference): [string, string[]] => {
      const type = reference.startsWith('processing') ? 'processing' : 'preference';
      return [`element/${type}/${reference}/1.0`, type === 'processing' ? ['refused'] : ['named by staff']];
    });
    const answered = await subjectOf(world.instances.clinic, made).submit(Object.fromEntries(answers));
    expect(answered.status).toBe(200);
    await until(async () => {
      const shown = (await (await world.admins.clinic.get(`/consents/${made.id}`)).json()) as {
        followers: { state: string }[];
      };
      expect(shown.followers.map(({ state }) => state)).toEqual(['ACCEPTED']);
    });
    const [part] = await rowsOf<{ sid: string }>(
      world.instances.clinic,
      'SELECT sid FROM transactions.sent_parts WHERE transaction = $1',
      [made.id],
    );
    expect((await world.askedAt('lab', { from: part?.sid })).status).toBe(202);
    expect((await world.askedAt('lab', { address: attacker })).status).toBe(202);
    // The person is found after both, so both were looked up.
    const fay = await world.open('lab', { address });
    expect(world.mails.to(attacker)).toEqual([]);
    // The later text of the same person came with another address; the consent ended with the later answer.
    expect((await fay.read())[0]?.choices).toMatchObject([{ answers: ['refused'], reason: 'WITHDRAWN' }]);
  }, 60_000);
});

describe('whoever follows a link', () => {
  it('is told the same for a known part, a foreign, an unknown one, and one without an address', async () => {
    const address = 'gus@example.org';
    await world.answer(address, wishes(address));
    const { lab, council } = await world.linksAt(await world.open('clinic', { address }));
    const silent = await createTransaction(world.admins.clinic, {
      layoutData: { elements: [world.questions.lab.consent] },
    });
    const consent = { [`element/processing/${world.questions.lab.consent}/1.0`]: ['accepted'] };
    await subjectOf(world.instances.clinic, silent).submit(consent);
    const [without] = await rowsOf<{ sid: string }>(
      world.instances.clinic,
      'SELECT sid FROM transactions.sent_parts WHERE transaction = $1',
      [silent.id],
    );
    const sids = [sidIn(lab), sidIn(council), 'A'.repeat(22), without?.sid as string];
    const told = [];
    for (const from of sids) {
      const response = await world.askedAt('lab', { from });
      const { date: _date, 'x-request-id': _id, ...headers } = Object.fromEntries(response.headers);
      const page = await choicesVisitor(world.instances.lab).post('/choices/link', [['from', from]]);
      told.push({ status: response.status, headers, body: await response.text(), page: await page.text() });
      expect(page.status).toBe(202);
    }
    for (const each of told) expect(each).toEqual(told[0]);
    expect(told[0]?.page).not.toContain('example.org');
    expect((await world.askedAt('lab', { from: 'no part' })).status).toBe(422);
    expect((await world.askedAt('lab', { from: sidIn(lab), address })).status).toBe(422);
    await until(() =>
      expect(world.mails.to(address).filter(({ from }) => from === 'post@lab.example')).toHaveLength(2),
    );
  }, 60_000);
});

describe('answers to one organisation', () => {
  it(
    'are in no table, log or trace of another, also after all have been looked at',
    async () => {
      const texts = { clinic: 'kanari-of-clinic', lab: 'kanari-of-lab', council: 'kanari-of-council' };
      const organisations = Object.entries(world.instances) as [
        Organisation,
        (typeof world.instances)['lab'],
      ][];
      const vacuum = (each: (typeof world.instances)['lab']) => runInDatabase(each, 'VACUUM ANALYZE');
      let next = 0;
      const work = async () => {
        for (let number = next++; number < canaries; number = next++) {
          const address = `kanari${number}@example.org`;
          await world.answer(address, (of) => `${texts[of]}-${number}`);
          // PostgreSQL of the tests has no autovacuum, without which queues become slower and slower.
          if (number % 500 === 499) await Promise.all(organisations.map(([, each]) => vacuum(each)));
          // Of many, some are looked at.
          if (number % Math.max(1, Math.floor(canaries / 100)) !== 0) continue;
          const atClinic = await world.open('clinic', { address });
          expect(await (await atClinic.get('/choices')).text()).toContain(`${texts.clinic}-${number}`);
          const links = await world.linksAt(atClinic);
          for (const owner of ['lab', 'council'] as const) {
            const there = await world.open(owner, { from: sidIn(links[owner]), to: address });
            expect(await (await there.get('/choices')).text()).toContain(`${texts[owner]}-${number}`);
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(8, canaries) }, work));
      for (const [of, instance] of organisations) {
        // The same search finds what is an organisation's own.
        expect(await tablesWith(instance, texts[of])).toContain('transactions.records');
        for (const [other] of organisations.filter(([each]) => each !== of))
          expect(await tablesWith(instance, texts[other]), `${other} at ${of}`).toEqual([]);
        expect(instance.logs()).not.toContain('kanari');
      }
      // Who else was asked, an owner does not know.
      expect(await tablesWith(world.instances.lab, world.instances.council.url)).toEqual([]);
      expect(await tablesWith(world.instances.council, world.instances.lab.url)).toEqual([]);
      expect(traces.spans().length).toBeGreaterThan(0);
      expect(traces.bytes()).not.toContain('kanari');
    },
    60_000 + canaries * 1_000,
  );
});
