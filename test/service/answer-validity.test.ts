import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  generatePrivateKey,
  generateSharedSecret,
  readPrivateKey,
  readSharedSecret,
} from '#lib/config/secret-values.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { verifyFolder } from '#lib/evidence/verify-folder.ts';
import { exportEvidence } from '../support/evidence/export-evidence.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents } from '../support/instances/live-events.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));
afterEach(() => letTimePass(instance, '0'));

/** Makes a processing whose answers hold for 30 years. @returns its identifier, which names its answer. */
async function makeBiobank(at: Caller = admin): Promise<string> {
  const { key } = await makeLiveModel(at, 'processing', {
    en: { ...sampleContent.processing, title: 'Samples for research', validity: 'P30Y' },
  });
  return `element/processing/${key}/1.0`;
}
const keyOf = (identifier: string) => identifier.split('/')[2] ?? '';
const reasonOf = async (subject: string, identifier: string) => {
  const answer = await shop.get(`/decisions?subject=${subject}&element=${keyOf(identifier)}`);
  return ((await answer.json()) as { reason: string }).reason;
};
const receiptOf = async ({ id }: { id: string }) =>
  (await (await shop.get(`/receipts/${id}`)).json()) as ReceiptBody;
const yearsUntil = (at: string | undefined) =>
  Math.round((Date.parse(at ?? '') - Date.now()) / (365.25 * 86_400_000));

describe('a consent with a validity of its own', () => {
  it('of 30 years is in force after 29, with its receipt, its link and the proof of the log; then it expires', {
    timeout: 120_000,
  }, async () => {
    const biobank = await makeBiobank();
    const made = await recordAnswers(shop, 'bea', { [biobank]: ['accepted'], [letter]: ['accepted'] });
    const { links } = (await (await shop.get(`/consents/${made.id}`)).json()) as {
      links: { subject: string; receipt: string };
    };
    await letTimePass(instance, '29 years');
    expect(await reasonOf('bea', biobank)).toBe('GIVEN');
    expect(await reasonOf('bea', letter)).toBe('EXPIRED');
    const { jwks } = (await (await instance.fetch('/.well-known/accord')).json()) as { jwks: JSONWebKeySet };
    const jws = await (await shop.get(`/receipts/${made.id}?format=jose`)).text();
    const { payload } = await compactVerify(jws, createLocalJWKSet(jwks), { algorithms: ['ES256'] });
    expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({ transaction: made.id });
    const opened = await instance.fetch(links.receipt.replace(instance.url, ''), {
      headers: { Accept: 'text/html' },
    });
    expect(opened.status).toBe(200);
    const { updateUrl = '' } = await receiptOf(made);
    const child = await instance.fetch(updateUrl.replace(instance.url, ''), {
      headers: { Accept: 'text/html' },
    });
    expect(child.status).toBe(200);
    const folder = await exportEvidence(instance, admin, 1);
    expect((await verifyFolder(folder)).receipts.proved).toBeGreaterThanOrEqual(1);
    await letTimePass(instance, '31 years');
    expect(await reasonOf('bea', biobank)).toBe('EXPIRED');
    const { [keyOf(biobank)]: records } = await recordsOf(shop, 'bea');
    expect(records?.[0]).toMatchObject({ status: 'EXPIRED' });
  });

  it('of 30 years is proved by the keys published then, and its link lives as long, whatever was rotated since', {
    timeout: 120_000,
  }, async () => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const environment = { DATABASE_URL: database.url, PORT: String(await freePort()) };
    const before = await startTestInstance(environment);
    const biobank = await makeBiobank(await signIn(before, 'admin'));
    const made = await recordAnswers(await createKey(before), 'bea', { [biobank]: ['accepted'] });
    const { updateUrl = '' } = (await (
      await (await createKey(before)).get(`/receipts/${made.id}`)
    ).json()) as ReceiptBody;
    await before.stop();

    const now = await startTestInstance(environment, {
      ...before.secrets,
      instanceSigning: [readPrivateKey(generatePrivateKey()), ...before.secrets.instanceSigning],
      transactionToken: [readSharedSecret(generateSharedSecret()), ...before.secrets.transactionToken],
    });
    onTestFinished(() => now.stop());
    const caller = await createKey(now);
    /** The link on the receipt, by the clocks of the database and of the process. */
    const openAfter = async (years: number) => {
      await letTimePass({ databaseUrl: database.url }, `${years} years`);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + years * 365.25 * 86_400_000 });
      const opened = await now
        .fetch(updateUrl.replace(now.url, ''), { headers: { Accept: 'text/html' } })
        .finally(() => vi.useRealTimers());
      await letTimePass({ databaseUrl: database.url }, '0');
      return opened.status;
    };
    expect([await openAfter(0), await openAfter(29)]).toEqual([200, 200]);
    expect(await openAfter(31)).toBeGreaterThanOrEqual(400);

    const { jwks } = (await (await now.fetch('/.well-known/accord')).json()) as { jwks: JSONWebKeySet };
    const kidOf = async ({ id }: { id: string }) => {
      const jws = await (await caller.get(`/receipts/${id}?format=jose`)).text();
      const { protectedHeader, payload } = await compactVerify(jws, createLocalJWKSet(jwks), {
        algorithms: ['ES256'],
      });
      expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({ transaction: id });
      return protectedHeader.kid;
    };
    const later = await recordAnswers(caller, 'cai', { [biobank]: ['accepted'] });
    const [signing, earlier] = now.secrets.instanceSigning;
    expect([await kidOf(made), await kidOf(later)]).toEqual([earlier?.kid, signing?.kid]);
  });

  it('is shortened by the context and never lengthened, also where the context gives the default', async () => {
    const biobank = await makeBiobank();
    const until = async (subject: string, context: object) => {
      const made = await recordAnswers(shop, subject, { [biobank]: ['accepted'] }, { ...context });
      return Date.parse((await receiptOf(made)).expirationTimestamp ?? '') - Date.now();
    };
    const day = 86_400_000;
    expect(await until('cai', { validity: 'P6M' })).toBeLessThan(190 * day);
    expect(await until('cas', { validity: 'P100Y' })).toBeLessThan(31 * 366 * day);
    expect(await until('cat', {})).toBeGreaterThan(29 * 365 * day);
  });

  it('holds as the last of equal contexts says, of which one gives the default and one leaves it out', async () => {
    const biobank = await makeBiobank();
    const context = { subject: 'dan', layoutData: { elements: [keyOf(biobank)] } };
    const first = await createTransaction(shop, context);
    const again = await shop.send('POST', '/consents', { ...context, validity: 'P6M' });
    expect(again.status).toBe(200);
    expect(await again.json()).toMatchObject({ id: first.id, context: { validity: 'P6M' } });
    await shop.send('POST', `/consents/${first.id}/submit`, { [biobank]: ['accepted'] });
    expect(yearsUntil((await receiptOf(first)).expirationTimestamp)).toBeLessThan(2);
  });

  it('states its own date on the receipt in every format, on the page afterwards and to webhooks', async () => {
    const biobank = await makeBiobank();
    await keepEvents(instance);
    const answers = { [biobank]: ['accepted'], [letter]: ['accepted'] };
    const made = await recordAnswers(shop, 'eve', answers);
    const receipt = await receiptOf(made);
    expect(yearsUntil(receipt.expirationTimestamp)).toBe(30);
    const [long, short] = [biobank, letter].map((name) =>
      receipt.consents.find(({ identifier }) => identifier === name),
    );
    expect(long).not.toHaveProperty('expirationTimestamp');
    expect(yearsUntil(short?.expirationTimestamp)).toBeLessThan(2);
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format;
    const formats = ['text/html', 'text/plain'];
    for (const Accept of formats) {
      const text = await (await shop.get(`/receipts/${made.id}`, { Accept })).text();
      expect(text.replaceAll(/\s+/g, ' ')).toContain(
        `Valid until ${day(new Date(short?.expirationTimestamp ?? ''))}`,
      );
    }
    const xml = await (await shop.get(`/receipts/${made.id}?format=application/xml`)).text();
    expect(xml).toContain(`<expirationDate>${short?.expirationTimestamp}</expirationDate>`);
    const linked = await (await shop.get(`/receipts/${made.id}?format=application/ld%2Bjson`)).text();
    expect(linked).toContain(`"dct:valid":"${short?.expirationTimestamp}"`);
    const notices = async () =>
      (await eventsOf(instance, made)).flatMap(
        ({ event }) => /consent\.(expir\w+)/.exec(event.type)?.[1] ?? [],
      );
    await letTimePass(instance, '8 months');
    await until(async () => expect(await notices()).toEqual(['expired']));
    await letTimePass(instance, '359 months 15 days');
    await until(async () => expect(await notices()).toEqual(['expired', 'expiring']));
    await letTimePass(instance, '31 years');
    await until(async () => expect(await notices()).toEqual(['expired', 'expiring', 'expired']));
  });

  it('that waited for a code counts from the code', async () => {
    const biobank = await makeBiobank();
    const made = await createTransaction(shop, {
      layoutData: { elements: [keyOf(biobank), 'processing.001'] },
      confirmation: 'FORM_CODE',
    });
    await shop.send('POST', `/consents/${made.id}/submit`, {
      [biobank]: ['accepted'],
      [letter]: ['refused'],
    });
    const { code } = (await (await shop.get(`/consents/${made.id}/confirm`)).json()) as { code: string };
    expect((await shop.send('POST', `/consents/${made.id}/confirm`, { code })).status).toBe(200);
    const { timestamp, expirationTimestamp, consents } = await receiptOf(made);
    expect(expirationTimestamp?.slice(5)).toBe(timestamp.slice(5));
    expect(
      consents.map((each) => yearsUntil(each.expirationTimestamp ?? expirationTimestamp)).sort(),
    ).toEqual([1, 30].map((years, at) => (at === 0 ? expect.toSatisfy((n: number) => n <= 1) : years)));
  });
});

describe('a form', () => {
  it('says beside a question how long its answer is valid, where that differs from the rest', async () => {
    const biobank = await makeBiobank();
    const made = await createTransaction(shop, {
      layoutData: { elements: [keyOf(biobank), 'processing.001'] },
    });
    const html = await (await shop.get(`/consents/${made.id}/submit`, { Accept: 'text/html' })).text();
    const text = parsePage(html).text().replaceAll(/\s+/g, ' ');
    expect(text).toMatch(/If you answer today, your answer is valid until \d+ \w+ \d{4} \(30 years\)/);
    expect(text).toContain('Your answers are valid for 6 months.');
    const { labels } = (await (await shop.get(`/consents/${made.id}/submit`)).json()) as {
      labels: { elements: Record<string, { validity?: string }> };
    };
    expect(plainSpaces(labels.elements[biobank]?.validity ?? '')).toContain('30 years');
    expect(labels.elements[letter]).not.toHaveProperty('validity');
  });

  it('speaks of all its questions if they hold equally long', async () => {
    const made = await createTransaction(shop, { layoutData: { elements: [keyOf(await makeBiobank())] } });
    const { labels } = (await (await shop.get(`/consents/${made.id}/submit`)).json()) as {
      labels: { validity?: string; elements: object };
    };
    expect(plainSpaces(labels.validity ?? '')).toBe('Your answers are valid for 30 years.');
    expect(plainSpaces(JSON.stringify(labels.elements))).not.toContain('30 years');
  });
});

it('a validity out of bounds, or unequal between languages, is refused with its place', async () => {
  const { id } = (await (
    await admin.send('POST', '/models', { type: 'processing', name: 'Bounds' })
  ).json()) as { id: string };
  const put = async (validity: unknown, other: unknown = validity) => {
    const data = {
      en: { ...sampleContent.processing, validity },
      fr: { ...sampleContent.processing, validity: other },
    };
    const answer = await admin.send('POST', `/models/${id}/versions`, { defaultLanguage: 'en', data });
    const { errors = [] } = (await answer.json()) as { errors?: { pointer: string; detail: string }[] };
    return [answer.status, ...errors.slice(0, 1).map(({ pointer, detail }) => `${pointer} ${detail}`)];
  };
  expect(await put('PT23H')).toEqual([422, '/data/en/validity must be at least P1D']);
  expect(await put('P51Y')).toEqual([422, '/data/en/validity must be at most P50Y']);
  expect(await put('soon')).toEqual([422, expect.stringContaining('must be an ISO 8601 duration')]);
  expect(await put('P1Y', 'P2Y')).toEqual([422, '/data/fr/validity must be the same as in en']);
});
