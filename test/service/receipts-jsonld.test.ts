import jsonld from 'jsonld';
import { describe, expect, it } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letter, often, study, transactionIn } from '../support/instances/live-subject.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const dpv = (term: string) => `https://w3id.org/dpv#${term}`;
const dct = (term: string) => `http://purl.org/dc/terms/${term}`;

interface Node {
  '@id'?: string;
  '@type'?: string[];
  '@value'?: string;
  '@language'?: string;
  [term: string]: unknown;
}

/** The receipt as a program that knows the vocabulary reads it: every term is an IRI. */
async function expanded({ id }: { id: string }, headers: Record<string, string> = {}) {
  const query = headers.Accept ? '' : '?format=jsonld';
  const response = await shop.get(`/receipts/${id}${query}`, headers);
  expect(response.headers.get('content-type')).toMatch(/^application\/ld\+json/);
  const document = (await response.json()) as object;
  // `safe`: a term that the context does not define is an error.
  const [receipt] = (await jsonld.expand(document, { safe: true } as never)) as unknown as Node[];
  return receipt as Node;
}
const nodes = (node: Node | undefined, term: string) => (node?.[term] ?? []) as Node[];
const only = (node: Node | undefined, term: string) => {
  const [first, ...rest] = nodes(node, term);
  expect(rest).toEqual([]);
  return first;
};

describe('a receipt as JSON-LD', () => {
  it('lists the processings as consent records of ISO/IEC TS 27560', async () => {
    const answers = { [letter]: ['accepted'], [study]: ['refused'], [often]: ['Every week'] };
    const made = await recordAnswers(shop, 'ann', answers, { language: 'en' });
    const receipt = await expanded(made);
    const signed = (await (await shop.get(`/receipts/${made.id}`)).json()) as Record<string, string>;
    expect(receipt['@id']).toBe(`${instance.url}/receipts/${made.id}`);
    expect(receipt['@type']).toEqual([dpv('ConsentReceipt')]);
    expect(only(receipt, dct('identifier'))?.['@value']).toBe(signed.receiptId);
    expect(only(receipt, dct('conformsTo'))?.['@id']).toBe('https://w3id.org/dpv/schema/dpv-27560#receipt');
    expect(only(receipt, dct('publisher'))?.['@id']).toBe(instance.url);
    const records = nodes(receipt, dpv('hasRecordOfActivity'));
    const stored = await recordsOf(shop, 'ann');
    expect(records.map((record) => only(record, dct('identifier'))?.['@value'])).toEqual(
      ['processing.001', 'processing.002'].map((key) => stored[key]?.[0]?.serial),
    );
    const statuses = records.map((record) => only(record, dpv('hasConsentStatus')));
    expect(statuses.map((status) => status?.['@type'])).toEqual([
      [dpv('ConsentGiven')],
      [dpv('ConsentRefused')],
    ]);
    expect(only(statuses[0], dpv('isIndicatedAtTime'))).toEqual({
      '@type': 'http://www.w3.org/2001/XMLSchema#dateTime',
      '@value': signed.timestamp,
    });
    const [record] = records;
    expect(nodes(record, dpv('hasLegalBasis')).map((basis) => basis['@id'])).toEqual([
      'https://w3id.org/dpv/legal/eu/gdpr#A6-1-a',
    ]);
    const process = only(record, dpv('hasProcess'));
    expect(only(process, dct('description'))?.['@language']).toBe('en');
    for (const purpose of nodes(process, dpv('hasPurpose')))
      expect(purpose['@id']).toMatch(/^https:\/\/w3id\.org\/dpv#[A-Z]/);
    const control = only(record, dpv('hasConsentControl'));
    expect(control?.['@type']).toEqual([dpv('WithdrawConsent')]);
    expect(only(control, dpv('isExercisedAt'))?.['@id']).toBe(signed.updateUrl);
    expect(only(only(record, dpv('hasDataSubject')), dct('identifier'))?.['@value']).toBe('ann');
  });

  it('states a withdrawal, and is chosen by its media type', async () => {
    const made = await recordAnswers(shop, 'ben', { [letter]: ['accepted'] });
    const withdrawal = await transactionIn(shop.send('POST', `/consents/${made.id}/withdraw`));
    const receipt = await expanded(withdrawal, { Accept: 'application/ld+json' });
    const [record] = nodes(receipt, dpv('hasRecordOfActivity'));
    expect(only(record, dpv('hasConsentStatus'))?.['@type']).toEqual([dpv('ConsentWithdrawn')]);
    expect(record?.[dct('valid')]).toBeUndefined();
  });

  it('is not what a client gets that does not ask for it', async () => {
    const made = await recordAnswers(shop, 'cleo', { [letter]: ['accepted'] });
    for (const accept of ['*/*', 'application/*', 'application/json'])
      expect(
        (await shop.get(`/receipts/${made.id}`, { Accept: accept })).headers.get('content-type'),
      ).toMatch(/^application\/json/);
  });
});
