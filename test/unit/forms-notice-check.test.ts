import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demoModels } from '../../services/forms/demo/models.ts';
import type { ModelType } from '../../services/forms/domain/model.ts';
import { adviseOn, checkNotice, noticeCodes } from '../../services/forms/domain/notice-check.ts';

type Content = Record<string, unknown>;

const pointsOf = (type: ModelType, data: Record<string, Content>) =>
  Object.fromEntries(checkNotice(type, data).map(({ code, pointers }) => [code, pointers]));

const clinic = { company: 'Clinic', email: 'privacy@clinic.example' };
const lab = { name: 'A lab', value: 'in Norway, by the standard clauses' };
const words = (count: number) => Array.from({ length: count }, (_, place) => `word${place}`).join(' ');
const consent = ['LEGAL_BASIS_CONSENT'];
const contract = ['LEGAL_BASIS_CONTRACT'];

/** For each rule the type, the member that it points at, a content that meets it and one that does not. */
const rules: Record<string, [type: ModelType, member: string, met: Content, unmet: Content]> = {
  controller: ['information', '/dataController/company', { dataController: clinic }, { dataController: {} }],
  'controller-shown': [
    'information',
    '/dataControllerVisible',
    { dataController: clinic, dataControllerVisible: true },
    { dataController: clinic },
  ],
  'controller-contact': [
    'information',
    '/dataController/email',
    { dataController: { address: '12 Shore Road' } },
    { dataController: { company: 'Clinic' } },
  ],
  'data-protection-officer': [
    'information',
    '/dataProtectionOfficer',
    { dataProtectionOfficer: 'Claire Morel' },
    { dataProtectionOfficer: '' },
  ],
  'supervisory-authority': ['information', '/supervisoryAuthority', { supervisoryAuthority: 'CNIL' }, {}],
  'privacy-policy': ['information', '/privacyPolicyUrl', { privacyPolicyUrl: 'https://a.example' }, {}],
  rights: [
    'information',
    '/dataController/email',
    { dataController: { phoneNumber: '+33 1' } },
    { dataController: { address: '12 Shore Road' } },
  ],
  purposes: ['processing', '/purposes', { purposes: ['CONSENT_RESEARCH'] }, { purposes: [] }],
  'legal-bases': ['processing', '/legalBases', { legalBases: consent }, {}],
  retention: ['processing', '/retention/fullText', { retention: { value: 0, unit: 'DAY' } }, {}],
  recipients: ['processing', '/thirdParties', { thirdParties: [] }, {}],
  'no-recipient': [
    'processing',
    '/thirdParties',
    { purposes: ['CONSENT_THIRD_PART_SHARING'], thirdParties: [lab] },
    { purposes: ['CONSENT_THIRD_PART_SHARING'], thirdParties: [] },
  ],
  transfer: ['processing', '/thirdParties', { thirdParties: [lab] }, { thirdParties: [lab, { name: 'B' }] }],
  'special-categories': [
    'processing',
    '/legalBases',
    { containsMedicalData: true, legalBases: consent },
    { containsSensitiveData: true, legalBases: contract },
  ],
  'needs-legal-basis': [
    'processing',
    '/refusable',
    { refusable: false, legalBases: contract },
    { refusable: false, legalBases: consent },
  ],
  'objection-basis': [
    'processing',
    '/legalBases',
    { choice: 'OBJECTION', legalBases: ['LEGAL_BASIS_PUBLIC_INTEREST'] },
    { choice: 'OBJECTION', legalBases: contract },
  ],
  withdrawal: ['layout', '/existingElementsVisible', {}, { existingElementsVisible: false }],
  'nothing-preselected': [
    'preference',
    '/defaultValues',
    { valueType: 'TOGGLE', options: ['No', 'Yes'], includeDefault: true, defaultValues: ['No'] },
    { valueType: 'TOGGLE', options: ['No', 'Yes'], includeDefault: true, defaultValues: ['Yes'] },
  ],
  'reading-level': [
    'conditions',
    '',
    { body: `<p>${words(25)}</p><p>${words(25)}. ${words(25)}!</p>` },
    { body: `<p>${words(25)}</p><p>${words(52)}</p>` },
  ],
};

describe('the notice check', () => {
  it('has one example of each rule here', () => {
    expect([...Object.keys(rules), 'translations']).toEqual(noticeCodes);
  });

  it.each(Object.entries(rules))('%s: points at what lacks, in the language that lacks it', (code, rule) => {
    const [type, member, met, unmet] = rule;
    expect(pointsOf(type, { en: met, fr: met })[code]).toEqual([]);
    expect(pointsOf(type, { en: unmet })[code]).toEqual([`/data/en${member}`]);
    expect(pointsOf(type, { en: met, fr: unmet })[code]).toEqual([`/data/fr${member}`]);
  });

  it('translations: names each text that a language lacks', () => {
    const data = { en: { label: 'How often?', description: 'As you like' }, fr: { label: 'Combien ?' } };
    expect(pointsOf('preference', data).translations).toEqual(['/data/fr/description']);
    expect(pointsOf('layout', { en: { submitText: 'Send' }, fr: {} }).translations).toEqual([
      '/data/fr/submitText',
    ]);
    expect(pointsOf('preference', { en: data.en })).not.toHaveProperty('translations');
  });

  it('names what a bare processing does not say, and nothing that does not concern it', () => {
    expect(pointsOf('processing', { en: { title: 'Letters', data: 'Name', usage: 'To write' } })).toEqual({
      purposes: ['/data/en/purposes'],
      'legal-bases': ['/data/en/legalBases'],
      retention: ['/data/en/retention/fullText'],
      recipients: ['/data/en/thirdParties'],
    });
    expect(Object.keys(pointsOf('information', { en: {} }))).toEqual([
      'controller',
      'controller-contact',
      'data-protection-officer',
      'supervisory-authority',
      'privacy-policy',
      'rights',
    ]);
    expect(pointsOf('theme', { en: { name: 'Blue' }, fr: {} })).toEqual({});
  });

  it('advises on what would be told wrongly, and on that alone', () => {
    const advised = Object.entries(rules).flatMap(([code, [type, , , unmet]]) =>
      adviseOn(type, { en: unmet }).some((fault) => fault.code === code) ? [code] : [],
    );
    expect(advised).toEqual(['recipients', 'no-recipient', 'needs-legal-basis']);
  });

  it.each(demoModels().map(({ key, type, data }) => [key, type, data] as const))(
    'is met by %s of the demonstration',
    (_, type, data) => {
      expect(checkNotice(type, data).filter(({ met }) => !met)).toEqual([]);
    },
  );

  it('points at something exactly where a point is not met, whatever the content', () => {
    const value = fc.oneof(fc.string(), fc.boolean(), fc.constant([]), fc.array(fc.string()), fc.object());
    const members = [
      'title',
      'purposes',
      'legalBases',
      'thirdParties',
      'dataController',
      'retention',
      'refusable',
      'options',
      'defaultValues',
    ] as const;
    const content = fc.dictionary(fc.constantFrom(...members), value);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('en', 'fr', 'ar'), content), (data) => {
        for (const type of ['processing', 'information', 'preference', 'conditions', 'layout'] as const)
          for (const { code, met, pointers } of checkNotice(type, data as never)) {
            expect(noticeCodes).toContain(code);
            expect(met).toBe(pointers.length === 0);
            for (const pointer of pointers) expect(pointer).toMatch(/^\/data\/(en|fr|ar)(\/|$)/);
          }
      }),
      { numRuns: 50 },
    );
  });
});
