import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OwnerProxy } from '../chaos/peers/owner-proxy.ts';
import type { Caller } from '../support/instances/callers.ts';
import type { TestInstance } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { problemOf, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { type Asked, type ClinicAndLab, own, startClinicAndLab } from '../support/peers/clinic-and-lab.ts';
import { until } from '../support/run/until.ts';

type Entry = components['schemas']['Entry'];
type Transaction = components['schemas']['Transaction'];

let here: ClinicAndLab;
let clinic: TestInstance;
let lab: TestInstance;
let way: OwnerProxy;
let clinicAdmin: Caller;
let labAdmin: Caller;
beforeAll(async () => {
  here = await startClinicAndLab();
  ({ clinic, lab, way, clinicAdmin, labAdmin } = here);
}, 60_000);
afterEach(() => way.behave('well'));
afterAll(() => here?.stop());

const theirs = () => here.theirs;
const consent = (context?: Record<string, unknown>) => here.consent(context);
const atClinic = (id: string) => here.atClinic(id);
const partOf = (made: Asked) => here.partOf(made);
const delivered = (made: Asked) => here.delivered(made);
const told = (made: Asked, state: string) =>
  until(async () => expect(await partOf(made)).toMatchObject({ withdrawal: { state } }));
const withdraw = (made: Asked, body?: object) =>
  clinic.fetch(`/consents/${made.id}/withdraw?t=${encodeURIComponent(made.token)}`, {
    method: 'POST',
    headers: { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
const withdrawalIn = async (response: Response) => {
  expect(response.status).toBe(201);
  return (await response.json()) as Transaction;
};
const atLab = async ({ subject }: Asked) => (await recordsOf(labAdmin, subject))['processing.002'] ?? [];
const receiptAt = async (admin: Caller, id: string) =>
  (await (await admin.get(`/receipts/${id}`)).json()) as Record<string, unknown>;

describe('a withdrawal at the leader', () => {
  it('ends the consent at the owner, with a receipt there, and both receipts say so', async () => {
    const made = await consent();
    await delivered(made);
    const withdrawal = await withdrawalIn(await withdraw(made));
    await told(made, 'ACKNOWLEDGED');
    const [newest, given] = await atLab(made);
    expect(newest).toMatchObject({ value: 'refused', origin: 'PEER', author: 'Lakeside Clinic' });
    const receipt = await receiptAt(labAdmin, given?.transaction as string);
    expect(await receiptAt(labAdmin, newest?.transaction as string)).toMatchObject({
      kind: 'WITHDRAWAL',
      collectionMethod: 'PEER',
      consents: [{ answer: ['refused'], withdraws: { receiptId: receipt.receiptId } }],
    });
    expect(await atClinic(withdrawal.id)).toMatchObject({
      parent: made.id,
      followers: [],
      recipients: [{ name: 'Northern Lab', kind: 'PEER', state: 'ACKNOWLEDGED' }],
    });
    expect(await receiptAt(clinicAdmin, withdrawal.id)).toMatchObject({
      consents: [{ identifier: own, answer: ['refused'] }],
      peers: [{ name: 'Northern Lab', location: lab.url }],
    });
    const textAt = async (path: string) =>
      parsePage(await (await clinicAdmin.get(path, { Accept: 'text/html' })).text()).text();
    expect(await textAt(`/consents/${made.id}`)).toContain('have since been withdrawn here');
    const exported = await textAt(`/subjects/${encodeURIComponent(made.subject)}/export`);
    expect(exported).toContain('have since been withdrawn here');
    const page = await textAt(`/consents/${withdrawal.id}`);
    expect(page).toContain('An organisation that is not named here may not know.');
    const printed = await textAt(`/receipts/${withdrawal.id}`);
    expect(printed).toContain(
      'Answered to Northern Lab. The page of the withdrawal shows whether Northern Lab could be told',
    );
  });

  it('leaves conditions that were accepted in the part in force at the owner, who withdraws them if named', async () => {
    const { id, name } = (await (await labAdmin.get('/models/serials/conditions.001')).json()) as Entry;
    expect((await labAdmin.send('PUT', `/models/${id}`, { name, shared: true })).status).toBe(200);
    const terms = `conditions.001@${new URL(lab.url).host}`;
    const layoutData = { elements: [terms] };
    const made = await until(() => createTransaction(clinicAdmin, { layoutData }));
    const answers = { [`element/conditions/${terms}/1.0`]: ['accepted'] };
    expect((await subjectOf(clinic, made).submit(answers)).status).toBe(200);
    await delivered(made);
    const page = parsePage(
      await (await clinicAdmin.get(`/consents/${made.id}`, { Accept: 'text/html' })).text(),
    );
    expect(page.text()).not.toContain('Withdraw all');
    for (const body of [{}, { peers: [lab.url] }]) {
      expect((await problemOf(await withdraw(made, body))).said).toBe('409 nothing-to-withdraw');
    }
    const termsAtLab = async () => (await recordsOf(labAdmin, made.subject))['conditions.001'] ?? [];
    expect(await termsAtLab()).toMatchObject([{ value: 'accepted', status: 'VALID' }]);

    const [given] = await termsAtLab();
    const named = { elements: ['conditions.001'] };
    await withdrawalIn(await labAdmin.send('POST', `/consents/${given?.transaction}/withdraw`, named));
    expect((await termsAtLab()).map(({ value }) => value)).toEqual(['refused', 'accepted']);
  });

  it('is the same when it is repeated, and reaches the owner once', async () => {
    const made = await consent();
    await delivered(made);
    const both = await Promise.all([withdraw(made), withdraw(made)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201]);
    const [first, second] = (await Promise.all(both.map((each) => each.json()))) as Transaction[];
    expect(second?.id).toBe(first?.id);
    await told(made, 'ACKNOWLEDGED');
    expect((await atLab(made)).map(({ value }) => value)).toEqual(['refused', 'accepted']);
  });

  it('tells no peer if it names questions alone, and withdraws no answer if it names peers alone', async () => {
    const made = await consent();
    await delivered(made);
    const named = await withdrawalIn(await withdraw(made, { peers: [lab.url] }));
    expect(await receiptAt(clinicAdmin, named.id)).toMatchObject({ consents: [], kind: 'WITHDRAWAL' });
    await told(made, 'ACKNOWLEDGED');
    expect((await atLab(made))[0]).toMatchObject({ value: 'refused' });
    const ours = async () => (await recordsOf(clinicAdmin, made.subject))['processing.001'];
    expect(await ours()).toMatchObject([{ value: 'accepted' }]);

    const other = await consent();
    await delivered(other);
    await withdrawalIn(await withdraw(other, { elements: ['processing.001'] }));
    expect(await partOf(other)).not.toHaveProperty('withdrawal');
  });

  it('is rejected if it names a peer that has no part', async () => {
    const made = await consent();
    const peers = [lab.url, 'https://another.example'];
    expect(await problemOf(await withdraw(made, { peers }))).toMatchObject({
      said: '422 not-withdrawable',
      errors: [{ pointer: '/peers/1' }],
    });
    expect(await partOf(made)).not.toHaveProperty('withdrawal');
  });

  it('of a transaction that only asked for a peer has a page, a receipt and a child that undoes it', async () => {
    const made = await consent({ layoutData: { elements: [theirs()] } });
    await delivered(made);
    for (const path of [`/consents/${made.id}`, `/consents/${made.id}/child`]) {
      const page = await clinic.fetch(`${path}?t=${encodeURIComponent(made.token)}`, {
        headers: { Accept: 'text/html' },
      });
      expect(await page.text()).toContain(`name="peers" value="${lab.url}"`);
    }
    const sent = await clinic.fetch(`/consents/${made.id}/withdraw?t=${encodeURIComponent(made.token)}`, {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams({ peers: lab.url }),
      redirect: 'manual',
    });
    expect(sent.status).toBe(303);
    await told(made, 'ACKNOWLEDGED');
    const repeated = await withdraw(made);
    expect(repeated.status).toBe(200);
    const withdrawal = (await repeated.json()) as Transaction;
    for (const url of [withdrawal.links?.subject, withdrawal.links?.receipt]) {
      const page = await fetch(url as string, { headers: { Accept: 'text/html' } });
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('Northern Lab');
    }
    for (const Accept of ['application/pdf', 'text/plain', 'application/xml', 'application/ld+json']) {
      // A busy machine prints no PDF for some seconds.
      await until(async () => {
        const receipt = await clinicAdmin.get(`/receipts/${withdrawal.id}`, { Accept });
        expect([Accept, receipt.status]).toEqual([Accept, 200]);
      });
    }
    const again = await fetch(withdrawal.links?.child as string, {
      method: 'POST',
      headers: { Accept: 'application/json' },
    });
    const child = (await again.json()) as Transaction;
    const answers = { [`element/processing/${theirs()}/1.0`]: ['accepted'] };
    const asked = { id: child.id, token: child.token as string, subject: made.subject };
    expect((await subjectOf(clinic, asked).submit(answers)).status).toBe(200);
    await delivered(asked);
    expect((await atLab(made))[0]).toMatchObject({ value: 'accepted' });
  });

  it('of a person reaches the owners of all parts', async () => {
    const subject = `everywhere-${Date.now()}`;
    const parts = [await consent({ subject }), await consent({ subject, object: 'account 7' })];
    for (const part of parts) await delivered(part);
    const response = await clinicAdmin.send('POST', '/choices/withdraw', { subject });
    expect(response.status).toBe(201);
    for (const part of parts) await told(part, 'ACKNOWLEDGED');
    const refused = await rowsOf<{ object: string }>(
      lab,
      `SELECT r.object FROM transactions.records AS r
        WHERE r.subject = $1 AND r.withdraws IS NOT NULL ORDER BY r.object`,
      [subject],
    );
    expect(refused.map(({ object }) => object)).toEqual(['', 'account 7']);
  });
});

const withdrawAll = async ({ subject }: Asked) => {
  const response = await clinicAdmin.send('POST', '/choices/withdraw', { subject });
  expect(response.status).toBe(201);
  return ((await response.json()) as { transactions: Transaction[] }).transactions;
};
const confirm = async ({ id }: Asked) => {
  const { code } = (await (await clinicAdmin.get(`/consents/${id}/confirm`)).json()) as { code: string };
  const confirmed = await clinicAdmin.send('POST', `/consents/${id}/confirm`, { code });
  expect(confirmed.status).toBe(200);
  return ((await confirmed.json()) as Transaction).state;
};
const partEvents = async ({ id }: Asked) =>
  (
    await rowsOf<{ type: string }>(
      clinic,
      `SELECT o.event->>'type' AS type FROM transactions.outbox AS o
         JOIN transactions.sent_parts AS f ON f.sid = o.key WHERE f.transaction = $1`,
      [id],
    )
  ).map(({ type }) => type);
const pageOf = async (path: string) =>
  parsePage(await (await clinicAdmin.get(path, { Accept: 'text/html' })).text()).text();

describe('a withdrawal of a person whose answers wait', () => {
  it('for a code and for all owners rolls the answers back when the code is entered', async () => {
    const made = await consent({ confirmation: 'FORM_CODE', peerCommit: 'together' });
    await withdrawAll(made);
    expect(await confirm(made)).toBe('ROLLBACK');
    expect(await partOf(made)).toMatchObject({ state: 'DROPPED', reason: 'withdrawn' });
    expect(await pageOf(`/consents/${made.id}`)).toContain('were withdrawn before they could take effect');
    await told(made, 'ACKNOWLEDGED');
    expect(await atLab(made)).toEqual([]);
  });

  it('for the owners leaves nothing in force at the owner, whatever the leader decides', async () => {
    way.behave('down');
    const made = await consent({ peerCommit: 'together' });
    expect(await partOf(made)).toMatchObject({ state: 'SENDING' });
    await withdrawAll(made);
    way.behave('well');
    await here.letWaitsPass();
    await told(made, 'ACKNOWLEDGED');
    const [newest] = await atLab(made);
    expect(newest === undefined || newest.value === 'refused' || newest.state !== 'COMMITTED').toBe(true);
  });
});

it('a withdrawal of a person asks conditions again in a form of their own', async () => {
  const { id, name } = (await (await labAdmin.get('/models/serials/conditions.001')).json()) as Entry;
  expect((await labAdmin.send('PUT', `/models/${id}`, { name, shared: true })).status).toBe(200);
  const terms = `conditions.001@${new URL(lab.url).host}`;
  const made = await consent();
  const context = { subject: made.subject, confirmation: 'FORM_CODE', layoutData: { elements: [terms] } };
  const waiting = await until(() => createTransaction(clinicAdmin, context));
  const answers = { [`element/conditions/${terms}/1.0`]: ['accepted'] };
  expect((await subjectOf(clinic, waiting).submit(answers)).status).toBe(200);
  const asked = await Promise.all(
    (await withdrawAll(made)).map(async (withdrawal) => {
      const child = await clinicAdmin.send('POST', `/consents/${withdrawal.id}/child`);
      const { elements } = await subjectOf(clinic, (await child.json()) as Asked).form();
      return [...new Set(elements.map(({ identifier }) => identifier.split('/')[1]))];
    }),
  );
  expect(asked.sort()).toEqual([['conditions'], ['processing']]);
});

describe('a part that waits for a code, and whose withdrawal is ordered', () => {
  it('is never sent: not even when the code is entered after the owner has forgotten the withdrawal', async () => {
    const made = await consent({ confirmation: 'FORM_CODE', timeout: 'P90D' });
    expect(await partOf(made)).toMatchObject({ state: 'WAITING' });
    const [withdrawal] = await withdrawAll(made);
    expect(await atClinic(withdrawal?.id as string)).toMatchObject({
      recipients: [{ name: 'Northern Lab', kind: 'PEER' }],
    });
    await told(made, 'ACKNOWLEDGED');
    // As after the time for which the owner keeps it.
    await runInDatabase(lab, 'DELETE FROM transactions.received_parts WHERE digest IS NULL');
    await letTimePass(clinic, '80 days');
    expect((await clinicAdmin.send('POST', `/consents/${made.id}/confirm/resend`)).status).toBe(202);
    expect(await confirm(made)).toBe('COMMITTED');
    await letTimePass(clinic, '0 days');
    expect(await partOf(made)).toMatchObject({
      state: 'DROPPED',
      reason: 'withdrawn',
      withdrawal: { state: 'ACKNOWLEDGED' },
    });
    expect(await partEvents(made)).not.toContain('io.accord.submission.released.v1');
    expect(await atLab(made)).toEqual([]);
    const { timestamp } = await receiptAt(clinicAdmin, withdrawal?.id as string);
    expect(await receiptAt(clinicAdmin, made.id)).toMatchObject({
      peers: [{ name: 'Northern Lab', withdrawn: timestamp }],
    });
    expect(await pageOf(`/consents/${made.id}`)).toContain('so Northern Lab never received them');
    for (const page of [
      await pageOf(`/receipts/${made.id}`),
      await (await clinicAdmin.get(`/receipts/${made.id}?format=text`)).text(),
    ])
      expect(page.replace(/\s+/g, ' ')).toContain('before this answer was sent to Northern Lab');
    expect(await (await clinicAdmin.get(`/receipts/${made.id}?format=xml`)).text()).toContain(
      `<withdrawn>${timestamp}</withdrawn>`,
    );
  });
});

describe('an owner that is away', () => {
  it('for 72 hours is OVERDUE, then gets the part, and after it the withdrawal', async () => {
    way.behave('down');
    const made = await consent();
    const withdrawal = await withdrawalIn(await withdraw(made));
    await here.letTimePassAtClinic('72 hours');
    await until(async () => {
      expect(await partOf(made)).toMatchObject({ state: 'SENDING', withdrawal: { state: 'OVERDUE' } });
      expect((await atClinic(withdrawal.id)).recipients).toMatchObject([{ state: 'OVERDUE' }]);
    });
    way.behave('well');
    await here.letWaitsPass();
    await told(made, 'ACKNOWLEDGED');
    expect(await partOf(made)).toMatchObject({ state: 'ACCEPTED' });
    expect((await atLab(made)).map(({ value }) => value)).toEqual(['refused', 'accepted']);
    const kinds = await rowsOf<{ kind: string }>(
      clinic,
      `SELECT r.kind FROM peers.acknowledgements AS r JOIN transactions.sent_parts AS f ON f.sid = r.sid
        WHERE f.transaction = $1 ORDER BY r.received_at`,
      [made.id],
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(['submit', 'withdraw']);
  });

  it('for 30 days after the withdrawal is no longer told', async () => {
    const made = await consent();
    await delivered(made);
    way.behave('down');
    const withdrawal = await withdrawalIn(await withdraw(made));
    await until(async () =>
      expect(await rowsOf(clinic, "SELECT FROM peers.deliveries WHERE kind = 'withdraw'")).toHaveLength(1),
    );
    await here.letTimePassAtClinic('40 days');
    await told(made, 'FAILED');
    expect((await atClinic(withdrawal.id)).recipients).toMatchObject([{ state: 'FAILED' }]);
  });
});
