import jsonld from 'jsonld';
import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter, often, study, transactionIn } from '../support/instances/live-subject.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));

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

  it('names every purpose and legal basis by its term, and each text at its place', async () => {
    const terms = {
      CONSENT_CORE_SERVICE: 'RequestedServiceProvision',
      CONSENT_IMPROVED_SERVICE: 'ServiceOptimisation',
      CONSENT_MARKETING: 'Marketing',
      CONSENT_RESEARCH: 'ResearchAndDevelopment',
    };
    const bases = [
      'CONSENT',
      'CONTRACT',
      'LEGAL_OBLIGATION',
      'VITAL_INTEREST',
      'PUBLIC_INTEREST',
      'LEGITIMATE_INTEREST',
    ];
    const content = {
      title: 'Letters',
      data: 'Your address',
      usage: 'We write to you.',
      retention: { label: 'a year', fullText: 'One year after the last letter' },
      purposes: [...Object.keys(terms), 'CONSENT_THIRD_PART_SHARING'],
      legalBases: bases.map((basis) => `LEGAL_BASIS_${basis}`),
      dataController: {
        company: 'Letters Ltd',
        address: '1 High Street',
        email: 'dpo@letters.example',
        phoneNumber: '+44 1',
      },
      thirdParties: [{ name: 'The printer', value: 'It prints the letters.' }, { name: 'The post' }],
    };
    const { key } = await makeLiveModel(admin, 'processing', { en: content });
    const identifier = `element/processing/${key}/1.0`;
    const made = await recordAnswers(
      shop,
      'dora',
      { [identifier]: ['accepted'] },
      { language: 'en', validity: 'P1Y' },
    );
    const receipt = await expanded(made);
    const signed = (await (await shop.get(`/receipts/${made.id}`)).json()) as Record<string, string> & {
      information: { identifier: string };
    };
    expect(only(receipt, dct('created'))?.['@value']).toBe(signed.timestamp);
    const record = only(receipt, dpv('hasRecordOfActivity'));
    const process = only(record, dpv('hasProcess'));
    const ids = (node: Node | undefined, term: string) => nodes(node, dpv(term)).map((each) => each['@id']);
    const textsOf = (node: Node | undefined, term: string) =>
      nodes(node, dpv(term)).map((each) => only(each, dct('description'))?.['@value']);
    const namesOf = (node: Node | undefined, term: string) =>
      nodes(node, dpv(term)).map((each) => only(each, dpv('hasName'))?.['@value']);

    expect(ids(process, 'hasPurpose')).toEqual(Object.values(terms).map(dpv));
    expect(ids(process, 'hasProcessing')).toEqual([dpv('Share')]);
    expect(ids(record, 'hasLegalBasis')).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `https://w3id.org/dpv/legal/eu/gdpr#A6-1-${letter}`),
    );
    expect(only(process, dct('description'))?.['@value']).toBe('We write to you.');
    expect(textsOf(process, 'hasPersonalData')).toEqual(['Your address']);
    expect(textsOf(process, 'hasStorageCondition')).toEqual(['One year after the last letter']);
    expect(namesOf(process, 'hasRecipient')).toEqual(['The printer', 'The post']);
    expect(textsOf(process, 'hasRecipient')).toEqual(['It prints the letters.', undefined]);
    expect(namesOf(record, 'hasDataController')).toEqual(['Letters Ltd']);
    const controller = only(record, dpv('hasDataController'));
    expect(only(controller, dpv('hasAddress'))?.['@value']).toBe('1 High Street');
    expect(nodes(controller, dpv('hasContact')).map((each) => each['@value'])).toEqual([
      'dpo@letters.example',
      '+44 1',
    ]);
    expect(only(record, dpv('hasJurisdiction'))?.['@value']).toBe(signed.jurisdiction);
    expect(only(only(record, dpv('hasNotice')), dct('identifier'))?.['@value']).toBe(
      signed.information.identifier,
    );
    const status = only(record, dpv('hasConsentStatus'));
    expect(only(status, dpv('isIndicatedBy'))?.['@value']).toBe(signed.author);
    expect(only(status, dpv('hasIndicationMethod'))?.['@value']).toBe(signed.collectionMethod);
    expect(only(record, dct('valid'))?.['@value']).toBe(signed.expirationTimestamp);
    for (const type of [
      'ConsentRecord',
      'Process',
      'PersonalData',
      'StorageCondition',
      'ThirdParty',
      'DataController',
      'DataSubject',
      'ConsentNotice',
    ])
      expect(JSON.stringify(receipt)).toContain(`"@type":["${dpv(type)}"]`);
  });

  it('states consent only where the processing could be refused or rests on consent', async () => {
    const unrefusable = async (...legalBases: string[]) => {
      const content = { ...sampleContent.processing, legalBases, refusable: false };
      const { key } = await makeLiveModel(admin, 'processing', { en: content });
      return `element/processing/${key}/1.0`;
    };
    const [contract, none, consent] = await Promise.all([
      unrefusable('LEGAL_BASIS_CONTRACT', 'LEGAL_BASIS_LEGAL_OBLIGATION'),
      unrefusable(),
      unrefusable('LEGAL_BASIS_CONTRACT', 'LEGAL_BASIS_CONSENT'),
    ]);
    const answers = (names: string[]) => Object.fromEntries(names.map((name) => [name, ['accepted']]));
    const mixed = await expanded(await recordAnswers(shop, 'emil', answers([contract, none, consent])));
    expect(mixed['@type']).toEqual([dpv('ConsentReceipt')]);
    const records = nodes(mixed, dpv('hasRecordOfActivity'));
    expect(
      records.map((record) => [
        record['@type'],
        only(record, dpv('hasConsentStatus'))?.['@type'],
        only(record, dpv('hasConsentControl'))?.['@type'],
        only(record, dpv('hasNotice'))?.['@type'],
      ]),
    ).toEqual([
      ...Array(2).fill([[dpv('DataProcessingRecord')], undefined, undefined, [dpv('PrivacyNotice')]]),
      [[dpv('ConsentRecord')], [dpv('ConsentGiven')], [dpv('WithdrawConsent')], [dpv('ConsentNotice')]],
    ]);
    expect(nodes(records[0], dpv('hasLegalBasis')).map((basis) => basis['@id'])).toEqual(
      ['b', 'c'].map((letter) => `https://w3id.org/dpv/legal/eu/gdpr#A6-1-${letter}`),
    );
    const notices = await expanded(await recordAnswers(shop, 'fay', answers([contract, none])));
    expect(notices['@type']).toEqual([dpv('DataProcessingRecord')]);
    expect(nodes(notices, dpv('hasRecordOfActivity'))).toHaveLength(2);
    expect(JSON.stringify(notices)).not.toMatch(/consent/i);
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
