import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { localesFaults } from '#lib/pages/catalogue-faults.ts';
import { localesFolder as authLocales } from '../../services/auth/issuer/words.ts';
import { localesFolder as formsLocales } from '../../services/forms/pages/words.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { complete, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { readPdf } from '../support/pages/read-pdf.ts';
import { until } from '../support/run/until.ts';

const example = path.join(import.meta.dirname, '..', '..', 'examples', 'locales');
const own = await mkdtemp(path.join(tmpdir(), 'accord-locales-'));
afterAll(() => rm(own, { recursive: true }));
await cp(example, own, { recursive: true });
await writeFile(path.join(own, 'forms', 'fr.json'), JSON.stringify({ 'form.optional': 'au choix' }));

const instance = useInstance({ LOCALES_DIR: own });
const operator: Caller = useSetup(() => signIn(instance, 'operator'));

it('the Catalan catalogue that comes as an example has no fault', () => {
  expect(localesFaults(example, 'forms', formsLocales)).toEqual([]);
  expect(localesFaults(example, 'auth', authLocales)).toEqual([]);
});

it('a person reads forms, receipts and the sign-in in a language that the organisation added', async () => {
  const config = await (await instance.fetch('/system/config')).json();
  expect((config as { languages: string[] }).languages).toContain('ca');
  const transaction = await createTransaction(operator, { language: 'ca' });
  const subject = subjectOf(instance, transaction);
  const readReceipt = (format: string) =>
    instance.fetch(`/receipts/${transaction.id}?t=${transaction.token}`, { headers: { Accept: format } });
  const form = await (await subject.get('/submit', 'text/html')).text();
  expect(form).toContain('<html lang="ca"');
  expect(form).toContain('Segons el dret que li sigui aplicable');
  await subject.submit(complete);
  const receipt = await (await readReceipt('text/html')).text();
  expect(receipt).toContain('Justificant de consentiment');
  const pdf = await until(async () => {
    const made = await readReceipt('application/pdf');
    expect(made.status).toBe(200);
    return new Uint8Array(await made.arrayBuffer());
  });
  const { text, language } = await readPdf(pdf);
  expect([language, text.includes('Justificant de consentiment')]).toEqual(['ca', true]);
  const refused = await fetch(`${instance.url}/auth/nowhere`, {
    headers: { Accept: 'text/html', 'Accept-Language': 'ca' },
  });
  expect(await refused.text()).toContain('S’ha produït un error');
});

it('a sentence that the organisation says otherwise replaces that of the product, and no other', async () => {
  const subject = subjectOf(instance, await createTransaction(operator, { language: 'fr' }));
  const form = await (await subject.get('/submit', 'text/html')).text();
  expect(form).toContain('(au choix)');
  expect(form).toContain('Courriel');
});
