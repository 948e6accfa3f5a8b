import type {
  ConditionsContent,
  DataController,
  InformationContent,
  PreferenceContent,
  ProcessingContent,
} from '#lib/contracts/form-content.ts';
import type { ReceiptBody, ReceiptConsent, ReceiptUnanswered } from '#lib/contracts/receipt-body.ts';

/** A receipt with only the members that every receipt has. */
export const shortReceipt: ReceiptBody = {
  receiptId: 'receipt',
  transaction: 'transaction',
  subject: 'ann',
  language: 'en',
  collector: { instance: 'https://consent.example', name: 'Clinic' },
  collectionMethod: 'WEBFORM',
  timestamp: '2026-03-12T09:00:00.000Z',
  confirmation: 'NONE',
  information: { identifier: 'element/information/a/1.0', texts: {}, sha256: '00' },
  consents: [],
};

/** A receipt with every member that a receipt can have, all of them shown on the form. */
export function fullReceipt(): Required<ReceiptBody> {
  const controller: Required<DataController> = {
    company: 'Clinic',
    info: 'Jeanne Marchal',
    address: '12 Quai des Saules\n33000 Bordeaux',
    email: 'privacy@consent.example',
    phoneNumber: '+33 5 55 01 02 03',
  };
  const information: Required<Omit<InformationContent, 'lang'>> = {
    title: 'Who asks',
    header: '<p>Hello & <strong>welcome</strong></p>',
    footer: '<p>Goodbye</p>',
    jurisdiction: 'European Union',
    dataController: controller,
    scope: 'Patients',
    dataProtectionOfficer: 'Dr Grey, grey@example.org',
    supervisoryAuthority: 'CNIL, Paris',
    shortNoticeLink: 'https://consent.example/short?a=1&b=2',
    privacyPolicyUrl: 'https://consent.example/privacy',
    customPrivacyPolicyText: 'Privacy',
    jurisdictionVisible: true,
    dataControllerVisible: true,
    scopeVisible: true,
    shortNoticeLinkVisible: true,
  };
  const processing: Required<Omit<ProcessingContent, 'lang'>> = {
    title: 'Letter',
    data: 'Name',
    retention: { label: 'a year', value: 1, unit: 'YEAR', fullText: 'As long as you wish' },
    usage: 'News',
    purposes: ['CONSENT_MARKETING', 'CONSENT_RESEARCH'],
    legalBases: ['LEGAL_BASIS_CONSENT', 'LEGAL_BASIS_CONTRACT'],
    containsSensitiveData: true,
    containsMedicalData: false,
    dataController: controller,
    dataControllerVisible: true,
    thirdParties: [{ name: 'Post', value: 'Delivers' }, { name: 'Printer' }],
    refusable: true,
    choice: 'CONSENT',
    validity: 'P30Y',
  };
  const conditions: Required<Omit<ConditionsContent, 'lang'>> = {
    title: 'Terms',
    body: '<p>These are the terms</p>',
    acceptLabel: 'I take part',
    rejectLabel: 'Not today',
    refusable: true,
  };
  const preference: Required<Omit<PreferenceContent, 'lang'>> = {
    label: 'Channel',
    description: 'How we may reach you',
    options: ['Letter', 'Telephone'],
    valueType: 'LIST_SINGLE',
    includeDefault: false,
    defaultValues: [],
    optional: true,
    validity: 'P1Y',
  };
  const sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
  const shown = { lang: 'pt-BR', texts: processing, sha256 };
  const element: Required<ReceiptUnanswered> = {
    identifier: 'element/processing/b/1.0',
    type: 'processing',
    options: ['accepted', 'refused'],
    owner: 'Clinic',
    ...shown,
  };
  const terms: Partial<ReceiptConsent> = {
    identifier: 'element/conditions/b/1.0',
    type: 'conditions',
    texts: conditions,
  };
  const channel: Partial<ReceiptConsent> = {
    identifier: 'element/preference/b/1.0',
    type: 'preference',
    options: preference.options,
    texts: preference,
  };
  const about = { identifier: 'element/information/c/1.0', lang: 'fr', texts: information, sha256 };
  return {
    ...shortReceipt,
    kind: 'WITHDRAWAL',
    signals: { gpc: true },
    subjectInfos: { emailAddress: 'ann@example.org', 'first name & more': '<b>' },
    object: 'contract 7',
    language: 'zh-Hant-TW',
    jurisdiction: 'European Union',
    leader: { location: 'https://hospital.example', id: 'part' },
    author: 'operator',
    expirationTimestamp: '2026-09-12T09:00:00.000Z',
    confirmation: { type: 'SMS_CODE', destination: '…1234', confirmedAt: shortReceipt.timestamp },
    information: { identifier: 'element/information/a/1.0', lang: 'en', texts: information, sha256 },
    consents: [
      { ...element, answer: ['accepted'], withdrawn: shortReceipt.timestamp },
      {
        ...element,
        answer: ['refused'],
        withdraws: { record: 'record', receiptId: 'receipt', given: shortReceipt.timestamp },
      },
      { ...element, answer: [] },
      { ...element, ...terms, answer: ['accepted'] },
      {
        ...element,
        ...channel,
        answer: ['Letter'],
        expirationTimestamp: '2026-06-12T09:00:00.000Z',
      },
    ],
    unanswered: [element, { ...element, ...terms }],
    peers: ['Lab', 'Hospital'].map((name) => ({
      name,
      location: 'https://lab.example:8443/consent',
      information: about,
      elements: [
        { identifier: 'element/processing/d/1.0', ...shown },
        { identifier: 'element/conditions/e/1.0', lang: 'en', texts: conditions, sha256 },
        { identifier: 'element/preference/f/1.0', lang: 'en', texts: preference, sha256 },
      ],
    })),
    privacyPolicyUrl: 'https://consent.example/privacy',
    attributes: { desk: '3', 'a b': '' },
    collection: { way: 'PAPER', givenOn: '2026-03-12', reference: 'Cabinet <3>', document: 'ab'.repeat(32) },
    updateUrl: 'https://consent.example/consents/transaction?t=token',
    parent: 'parent',
  };
}
