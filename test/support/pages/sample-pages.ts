import type { FormChange, FormElement, FormInformation } from '#lib/contracts/form-content.ts';
import type {
  FinalPage,
  FormPage,
  PageAnswer,
  PageModel,
  PagePart,
  WithdrawalChoice,
} from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';
import { problemStatus } from '#lib/http/problem.ts';
import { sampleContract } from '../contract/sample-contract.ts';
import { type SampleLanguage, sampleElements, sampleInformation } from '../samples/sample-content.ts';
import { sampleConfirmPages } from './sample-confirm-pages.ts';
import { sampleExport } from './sample-export.ts';

const baseUrl = 'https://consent.riverside.example';
const link = (path: string) => `${baseUrl}/consents/6Yd3kQ2mWzX8RtB5vNcJ1a${path}?t=sample`;
const hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const contact = {
  company: 'Riverside Clinic',
  email: 'privacy@riverside.example',
  phoneNumber: '+33 5 55 01 02 03',
};

/** An instance that is not the one who asks. */
const portal = { name: 'Health Portal of the City', baseUrl, timeZone: 'Europe/Paris' };

/** What all sample pages have. @param state of the transaction, absent: there is none. */
function base(
  language: string,
  state?: 'CREATED' | 'SUBMITTED' | 'COMMITTED' | 'CANCELLED' | 'TIMEOUT' | 'ROLLBACK',
  callback: string | null = null,
) {
  return {
    language,
    instance: { name: 'Riverside Clinic', baseUrl, timeZone: 'Europe/Paris' },
    theme: null,
    embedding: state
      ? {
          transaction: '6Yd3kQ2mWzX8RtB5vNcJ1a',
          state,
          iframeOrigin: 'https://www.riverside.example',
          callback,
          // Long enough for whoever looks at the page: it goes to its callback when that is over.
          callbackTriggerDelay: 600_000,
          includeIFrameResizer: true,
        }
      : null,
  };
}

/** A form page of some elements. @param more overrides anything. */
export function sampleForm(
  language: SampleLanguage,
  elements: FormElement[],
  more: Partial<FormPage> = {},
): FormPage {
  return {
    ...base(language, 'CREATED'),
    page: 'form',
    info: sampleInformation(language),
    elements,
    peers: [],
    layout: {
      orientation: 'VERTICAL',
      existingElementsVisible: true,
      validityVisible: true,
      acceptAllVisible: false,
      cancelVisible: false,
      footerOnTop: false,
      includeIFrameResizer: true,
    },
    actions: { submit: link('/submit'), cancel: link('/cancel') },
    values: {},
    faults: [],
    changed: [],
    validity: 'P6M',
    expires: '2025-05-10T08:30:00Z',
    updatable: true,
    peersOptional: false,
    ...more,
  };
}

function formPages(language: SampleLanguage): Record<string, PageModel> {
  const { newsletter, research, record, channel, topics, remarks, site, terms } = sampleElements(
    language,
  ) as Record<string, FormElement> &
    Record<
      'newsletter' | 'research' | 'record' | 'channel' | 'topics' | 'remarks' | 'site' | 'terms',
      FormElement
    >;
  const plain = sampleForm(language, [newsletter, research, channel]);
  const layout = { ...plain.layout, acceptAllVisible: true, cancelVisible: true };
  const earlier = (element: FormElement, answers: string[]): FormElement => ({
    ...element,
    previous: { identifier: element.identifier, answers, created: '2025-05-03T09:12:00Z' },
  });
  const suggested = (element: FormElement, count: number) =>
    ({
      ...element,
      content: { ...element.content, includeDefault: true, defaultValues: element.answers?.slice(0, count) },
    }) as FormElement;
  const hospital = 'University Hospital';
  const peer = {
    ...research,
    content: { ...research.content, dataController: { company: hospital } },
    owner: hospital,
    identifier: 'element/processing/study@hospital.example/1.0',
    required: false,
  } as FormElement;
  const lab = 'Northern Research Laboratory for Sleep and Dreams';
  const ofLab = [record, channel].map((element, index) => ({
    ...element,
    owner: lab,
    identifier: `element/${element.entry.type}/sleep.${index}@lab.example:8443/1.0`,
  }));
  const other = sampleElements(language === 'en' ? 'fr' : 'en');
  return {
    form: plain,
    'form-everything': sampleForm(language, [newsletter, record, channel, topics, site, remarks], { layout }),
    'form-returning': sampleForm(
      language,
      [earlier(newsletter, ['refused']), earlier(channel, [channel.answers?.[1] ?? ''])],
      { layout },
    ),
    'form-conditions': sampleForm(language, [terms]),
    'form-dark': sampleForm(language, [newsletter, research, channel], { layout, colorScheme: 'dark' }),
    'form-light': sampleForm(language, [newsletter, research, channel], { layout, colorScheme: 'light' }),
    'form-horizontal': sampleForm(language, [newsletter, research], {
      layout: { ...layout, orientation: 'HORIZONTAL', footerOnTop: true },
    }),
    'form-faults': sampleForm(language, [newsletter, record, channel, remarks], {
      values: { [newsletter.identifier]: ['accepted'], [remarks.identifier]: ['…'] },
      faults: [
        { identifier: record.identifier, code: 'not-refusable' },
        { identifier: channel.identifier, code: 'required' },
        { identifier: remarks.identifier, code: 'too-long' },
      ],
    }),
    'form-stale': sampleForm(language, [newsletter, research], {
      changed: [research.identifier],
      removed: 1,
      values: { [newsletter.identifier]: ['accepted'] },
    }),
    'form-asked-again': sampleForm(language, [changedSince(research)], {
      info: changedSince(sampleInformation(language)),
      unchanged: {
        answers: sampleAnswers(language).map((answer) => ({ ...answer, created: '2025-05-03T09:12:00Z' })),
        all: `${link('/submit')}&existingElementsVisible=true`,
      },
    }),
    'form-peer': sampleForm(language, [newsletter, peer, ...ofLab], {
      peers: [
        { name: hospital, location: 'https://hospital.example', info: null, elements: [peer] },
        {
          name: lab,
          location: 'https://lab.example:8443',
          info: informationOf(language, lab),
          elements: ofLab,
          asOf: '2025-05-02T06:30:00Z',
        },
      ],
    }),
    'form-child': sampleForm(
      language,
      [
        earlier(newsletter, ['accepted']),
        peer,
        ...ofLab.map((element) => ({ ...element, required: false }) as FormElement),
      ],
      {
        peersOptional: true,
        gpc: true,
        peers: [
          { name: hospital, location: 'https://hospital.example', info: null, elements: [peer] },
          {
            name: lab,
            location: 'https://lab.example:8443',
            info: informationOf(language, lab),
            elements: ofLab,
          },
        ],
      },
    ),
    'form-notices': sampleForm(language, [record], { layout }),
    'form-horizontal-odd': sampleForm(language, [newsletter, research, channel, topics, site], {
      layout: { ...layout, orientation: 'HORIZONTAL' },
    }),
    'form-via': sampleForm(language, [newsletter], { instance: portal }),
    'form-suggested': sampleForm(language, [suggested(channel, 1), suggested(topics, 2), suggested(site, 1)]),
    'form-kept': sampleForm(language, [newsletter, channel, remarks], {
      kept: true,
      values: { [newsletter.identifier]: ['refused'], [remarks.identifier]: ['…'] },
    }),
    'form-cancel': sampleForm(language, [newsletter], { layout }),
    'form-other-language': sampleForm(language, [newsletter, other.research ?? research]),
    'form-preview': sampleForm(language, [newsletter], { actions: null, layout }),
  };
}

/** An item of which the subject answered an earlier version: a text that is compared, and one that is not. */
function changedSince<Item extends FormElement | FormInformation>(item: Item): Item {
  const { content, identifier } = item;
  const title = 'title' in content ? content.title : '';
  const text = 'usage' in content ? content.usage : title;
  const change: FormChange = {
    from: identifier.replace(/[^/]+$/, '0.9'),
    since: '2025-05-03T09:12:00Z',
    fields: [
      {
        field: 'usage',
        label: title,
        old: `${title} ${text}`,
        oldLanguage: content.lang,
        new: `${text} ${text}`,
        parts: [
          { op: 'removed', text: title },
          { op: 'added', text },
          { op: 'same', text: ` ${text}` },
        ],
      },
      { field: 'title', label: title, old: text, oldLanguage: content.lang, new: title },
    ],
  };
  return { ...item, change };
}

/** What another organisation says of itself. */
function informationOf(language: SampleLanguage, owner: string): FormInformation {
  const { content, ...information } = sampleInformation(language);
  const { header: _ours, footer: _too, ...rest } = content;
  return { ...information, owner, content: { ...rest, dataController: { company: owner } } };
}

function sampleAnswers(language: SampleLanguage): PageAnswer[] {
  const { newsletter, research, record, channel, topics } = sampleElements(language);
  const title = (element: FormElement | undefined) => {
    const content = element?.content as { title?: string; label?: string; options?: string[] } | undefined;
    return {
      identifier: element?.identifier ?? '',
      title: content?.title ?? content?.label ?? '',
      options: content?.options ?? [],
    };
  };
  const answer = (element: FormElement | undefined, more: Partial<PageAnswer>): PageAnswer => {
    const { identifier, title: text } = title(element);
    return {
      identifier,
      title: text,
      type: 'processing',
      lang: language,
      owner: null,
      decision: null,
      values: [],
      ...more,
    };
  };
  return [
    answer(newsletter, { decision: 'accepted' }),
    answer(research, { decision: 'refused' }),
    answer(record, { decision: 'shown' }),
    answer(channel, { type: 'preference', values: title(channel).options.slice(0, 1) }),
    answer(topics, { type: 'preference', values: title(topics).options.slice(0, 2) }),
  ];
}

function sampleParts(language: SampleLanguage): PagePart[] {
  const titles = sampleAnswers(language).map(({ title }) => ({ title, lang: language }));
  const parts = [
    ['sending', 'University Hospital', 1],
    ['held', 'Northern Research Laboratory for Sleep and Dreams', 2],
    ['accepted', 'Lakeside Clinic', 1],
    ['refused', 'University Hospital', 2],
    ['late', 'Northern Research Laboratory for Sleep and Dreams', 1],
    ['dropped', 'Lakeside Clinic', 1],
    ['unsent', 'University Hospital', 2],
  ] as const;
  return parts.map(([state, owner, count]) => ({ owner, state, elements: titles.slice(1, 1 + count) }));
}

/** As the sample answers, with a consent where they have a refusal. */
function consentedAnswers(language: SampleLanguage): PageAnswer[] {
  return sampleAnswers(language).map((answer) =>
    answer.decision === 'refused' ? { ...answer, decision: 'accepted' as const } : answer,
  );
}

/** The first answers of `answers` can be withdrawn; the one after them has been. */
function withdrawalOf(answers: readonly { identifier: string }[], open: number): WithdrawalChoice {
  const standing = answers.slice(0, open + 1).map(({ identifier }, place) => ({
    identifier,
    withdrawn: place < open ? null : '2025-05-04T08:30:00Z',
  }));
  return { url: link('/withdraw'), standing };
}

function finalPages(language: SampleLanguage): Record<string, PageModel> {
  const none = { answers: [], leader: null, parts: [], validUntil: null, receiptUntil: null, contact };
  const no = { again: null, cancel: null };
  const at = '2025-05-03T12:02:00Z';
  const created = '2025-05-03T09:12:00Z';
  const callback = 'https://www.riverside.example/welcome?step=3';
  return {
    committed: {
      ...base(language, 'COMMITTED'),
      page: 'committed',
      answers: consentedAnswers(language),
      withdrawal: withdrawalOf(sampleAnswers(language), 2),
      leader: null,
      parts: sampleParts(language),
      at,
      validUntil: '2025-11-03T12:02:00Z',
      receiptUntil: '2025-11-03T12:02:00Z',
      contact,
      links: {
        receipt: `${baseUrl}/receipts/6Yd3kQ2mWzX8RtB5vNcJ1a?t=sample`,
        child: link('/child'),
        again: link(''),
        cancel: null,
      },
    },
    withdrawn: {
      ...base(language, 'COMMITTED'),
      page: 'committed',
      answers: sampleAnswers(language)
        .slice(0, 2)
        .map((answer) => ({ ...answer, decision: 'withdrawn' as const, created })),
      withdrawal: withdrawalOf(sampleAnswers(language).slice(0, 2), 1),
      keptBy: ['University Hospital'],
      toldPeers: ['Northern Lab'],
      recipients: [
        { name: 'Northern Lab', state: 'QUEUED', kept: false, since: at },
        { name: 'Letters Ltd', state: 'DELIVERED', kept: false, since: at },
        { name: 'Invoice Service', state: 'ACKNOWLEDGED', kept: true, since: at },
      ],
      leader: null,
      parts: [],
      at,
      validUntil: null,
      receiptUntil: '2025-11-03T12:02:00Z',
      contact,
      links: {
        receipt: `${baseUrl}/receipts/6Yd3kQ2mWzX8RtB5vNcJ1a?t=sample`,
        child: link('/child'),
        ...no,
      },
    },
    'committed-sent': {
      ...base(language, 'COMMITTED'),
      ...none,
      page: 'committed',
      at,
      parts: sampleParts(language).slice(0, 3),
      receiptUntil: '2025-11-03T12:02:00Z',
      links: {
        receipt: `${baseUrl}/receipts/6Yd3kQ2mWzX8RtB5vNcJ1a?t=sample`,
        child: link('/child'),
        ...no,
      },
    },
    'committed-callback': {
      ...base(language, 'COMMITTED', callback),
      page: 'committed',
      answers: sampleAnswers(language).slice(0, 1),
      at,
      validUntil: null,
      contact,
      receiptUntil: '2025-11-03T12:02:00Z',
      leader: 'University Hospital',
      parts: [],
      links: { receipt: `${baseUrl}/receipts/6Yd3kQ2mWzX8RtB5vNcJ1a?t=sample`, child: null, ...no },
    },
    cancelled: {
      ...base(language, 'CANCELLED'),
      ...none,
      page: 'cancelled',
      at,
      links: { receipt: null, child: link('/child'), ...no },
    },
    timeout: {
      ...base(language, 'TIMEOUT'),
      ...none,
      page: 'timeout',
      at,
      links: { receipt: null, child: link('/child'), ...no },
    },
    'timeout-closed': {
      ...base(language, 'TIMEOUT'),
      ...none,
      page: 'timeout',
      at,
      links: { receipt: null, child: null, ...no },
    },
    rolledback: {
      ...base(language, 'ROLLBACK'),
      ...none,
      page: 'rolledback',
      at,
      links: { receipt: null, child: link('/child'), ...no },
    },
    'rolledback-peers': {
      ...base(language, 'ROLLBACK'),
      ...none,
      page: 'rolledback',
      at,
      parts: sampleParts(language).slice(3, 6),
      links: { receipt: null, child: link('/child'), ...no },
    },
    'rolledback-withdrawn': {
      ...base(language, 'ROLLBACK'),
      ...none,
      page: 'rolledback',
      reason: 'withdrawn',
      parts: sampleParts(language).slice(5),
      at,
      links: { receipt: null, child: link('/child'), ...no },
    },
    'rolledback-against': {
      ...base(language, 'ROLLBACK'),
      ...none,
      page: 'rolledback',
      at,
      parts: sampleParts(language).slice(2, 4),
      links: { receipt: null, child: link('/child'), ...no },
    },
    submitted: {
      ...base(language, 'SUBMITTED', callback),
      ...none,
      page: 'submitted',
      at,
      parts: sampleParts(language).slice(0, 2),
      links: { receipt: null, child: null, again: link(''), cancel: link('/cancel') },
    },
    'submitted-at-peer': {
      ...base(language, 'SUBMITTED'),
      ...none,
      page: 'submitted',
      at,
      leader: 'University Hospital',
      links: { receipt: null, child: null, again: link(''), cancel: null },
    },
    answered: {
      ...base(language, 'CREATED'),
      page: 'answered',
      info: 'element/information/information.001/1.0',
      answers: sampleAnswers(language).map((answer) => ({ ...answer, created })),
      actions: {
        submit: link('/submit'),
        cancel: null,
        change: `${link('/submit')}&existingElementsVisible=true`,
      },
    },
    messages: {
      ...base(language, 'CREATED'),
      page: 'messages',
      embedding: null,
      messages: [
        {
          at: '2025-05-03T12:04:00Z',
          from: 'Riverside Clinic <consent@riverside.example>',
          to: 'ann@example.org',
          mail: {
            subject: 'Your answers',
            html: '<!doctype html><html lang="en"><title>Your answers</title><body><p>Thank you.</p></body></html>',
            attachments: [{ name: 'receipt.pdf', bytes: 114_606 }],
          },
          text: 'Thank you.',
        },
        {
          at: '2025-05-03T12:02:00Z',
          from: null,
          to: '+33639981234',
          mail: null,
          text: 'Your code: 407213\n@consent.example.org #407213',
        },
      ],
    },
    'messages-none': { ...base(language, 'CREATED'), page: 'messages', embedding: null, messages: [] },
    child: {
      ...{
        ...base(language, 'COMMITTED'),
        instance: portal,
        asker: { name: 'Riverside Clinic', lang: 'en' },
      },
      page: 'child',
      state: 'COMMITTED',
      answers: consentedAnswers(language),
      withdrawal: withdrawalOf(sampleAnswers(language), 2),
      links: { child: link('/child'), transaction: link('') },
    },
  };
}

/** An error page as a subject gets it. */
function sampleError(language: string, code: ProblemCode, more: object = {}): PageModel {
  return {
    ...base(language),
    page: 'error',
    status: problemStatus[code].status,
    code,
    links: { child: null, transaction: null },
    contact: null,
    ...more,
  };
}

function withdrawalReceipt(language: SampleLanguage): ReceiptBody {
  const { expirationTimestamp: _none, unanswered: _no, peers: _peers, ...receipt } = sampleReceipt(language);
  const given = '2025-05-01T08:15:00Z';
  return {
    ...receipt,
    kind: 'WITHDRAWAL',
    collectionMethod: 'RECEIPT',
    confirmation: 'NONE',
    consents: receipt.consents.slice(0, 2).map((consent) => ({
      ...consent,
      answer: ['refused'],
      withdraws: {
        record: '01969a5e-6d3c-7b0a-9a57-2f4f0f8f3c12',
        receiptId: '01969a5e-6d3c-7b0a-9a57-2f4f0f8f3c10',
        given,
      },
    })),
  };
}

function sampleReceipt(language: SampleLanguage): ReceiptBody {
  const { newsletter, research, record, channel, remarks, terms } = sampleElements(language);
  const consent = (element: FormElement | undefined, answer: string[], owner: string | null = null) => ({
    identifier: element?.identifier ?? '',
    type: element?.entry.type ?? 'processing',
    lang: language,
    texts: { ...element?.content },
    sha256: hash,
    options: element?.answers ?? [],
    answer,
    owner,
  });
  const { answer: _none, ...unanswered } = consent(remarks, []);
  return {
    receiptId: '01969a5e-6d3c-7b0a-9a57-2f4f0f8f3c11',
    transaction: '6Yd3kQ2mWzX8RtB5vNcJ1a',
    subject: 'alice.martin@example.org',
    subjectInfos: { emailAddress: 'alice.martin@example.org' },
    object: 'patient-4711',
    language,
    jurisdiction: sampleInformation(language).content.jurisdiction ?? '',
    collector: { instance: baseUrl, name: 'Riverside Clinic' },
    collectionMethod: 'WEBFORM',
    author: 'operator',
    timestamp: '2025-05-03T12:02:00Z',
    expirationTimestamp: '2025-11-03T12:02:00Z',
    confirmation: {
      type: 'EMAIL_CODE',
      destination: 'a…@example.org',
      confirmedAt: '2025-05-03T12:02:00Z',
    },
    information: {
      identifier: 'element/information/information.001/1.0',
      texts: { ...sampleInformation(language).content },
      sha256: hash,
    },
    consents: [
      consent(newsletter, ['accepted'], 'Riverside Clinic'),
      consent(research, ['refused']),
      { ...consent(record, ['accepted']), options: [] },
      consent(channel, channel?.answers?.slice(0, 1) ?? []),
    ],
    unanswered: [unanswered],
    peers: [
      {
        name: 'University Hospital',
        location: 'https://hospital.example',
        information: {
          identifier: 'element/information/about.us@hospital.example/1.0',
          lang: language,
          texts: { ...sampleInformation(language).content },
          sha256: hash,
        },
        elements: [
          {
            identifier: 'element/conditions/terms@hospital.example/1.0',
            lang: language,
            texts: { ...terms?.content },
            sha256: hash,
          },
        ],
      },
    ],
    privacyPolicyUrl: 'https://riverside.example/privacy',
    attributes: { channel: 'reception', desk: '3' },
    // As long as a real one is, with its token.
    updateUrl: link('') + 'x'.repeat(260),
    parent: '4Qd3kQ2mWzX8RtB5vNcJ1b',
  };
}

function otherPages(language: SampleLanguage): Record<string, PageModel> {
  const receipt = `${baseUrl}/receipts/6Yd3kQ2mWzX8RtB5vNcJ1a?t=sample`;
  return {
    'error-expired': sampleError(language, 'expired', {
      links: { child: link('/child'), transaction: null },
    }),
    'error-expired-kept': sampleError(language, 'expired', {
      links: { child: link('/child'), transaction: null },
      entered: [{ name: 'element/processing/newsletter/1.0', value: 'accepted' }],
    }),
    'error-closed': sampleError(language, 'expired', { contact }),
    'error-wrong-state': sampleError(language, 'wrong-state', {
      links: { child: null, transaction: link('') },
    }),
    'error-not-found': sampleError(language, 'not-found'),
    'error-too-many': sampleError(language, 'too-many-requests', { retryAfter: 30 }),
    'receipt-withdrawal': {
      ...base(language, 'COMMITTED'),
      page: 'receipt',
      receipt: withdrawalReceipt(language),
      links: { child: link('/child'), transaction: link(''), formats: [] },
    },
    receipt: {
      ...base(language, 'COMMITTED'),
      page: 'receipt',
      receipt: sampleReceipt(language),
      withdrawal: withdrawalOf(sampleReceipt(language).consents, 2),
      links: {
        child: link('/child'),
        transaction: link(''),
        formats: ['application/json', 'application/jose'].map((mediaType) => ({
          mediaType,
          url: `${receipt}&format=${mediaType}`,
        })),
      },
    },
    mail: {
      ...base(language),
      page: 'mail',
      kind: 'notification',
      lang: language,
      from: 'Riverside Clinic <privacy@riverside.example>',
      mail: {
        subject: sampleInformation(language).content.title,
        body: sampleInformation(language).content.header ?? '',
        buttonLabel: 'Riverside Clinic',
        footer: sampleInformation(language).content.footer ?? '',
      },
    },
  };
}

/** Pages of the instance itself. */
function instancePages(language: SampleLanguage): Record<string, PageModel> {
  return {
    welcome: { ...base(language), page: 'welcome', version: '1.0.0', consolePath: '/console', demo: null },
    'welcome-demo': {
      ...base(language),
      page: 'welcome',
      version: '1.0.0',
      consolePath: '/console',
      demo: {
        formUrl: '/sample/form',
        hostUrl: '/demo/host',
        tokenUrl: `${baseUrl}/auth`,
        accounts: ['admin', 'operator', 'user'].map((name) => ({
          username: name,
          password: 'demo',
          role: name,
        })),
      },
    },
    host: { ...base(language), page: 'host', formUrl: '/sample/form' },
    problem: { ...base(language), page: 'problem', code: 'stale-serial', status: 409 },
    api: {
      ...base(language),
      page: 'api',
      document: sampleContract,
      signIn: { tokenUrl: '/auth', clientId: 'accord' },
    },
  };
}

/** The parts of a document with the data of a person. */
export function exportPages(language: SampleLanguage) {
  const receipts = { given: sampleReceipt(language), withdrawn: withdrawalReceipt(language) };
  return sampleExport(base(language), receipts);
}

/** Every page that a reader can get, in one language, by a name for files and test titles. */
export function samplePages(language: SampleLanguage): Record<string, PageModel> {
  const finals = finalPages(language);
  return {
    ...formPages(language),
    ...sampleConfirmPages(base(language, 'SUBMITTED'), link, finals.rolledback as FinalPage),
    ...finals,
    ...otherPages(language),
    ...exportPages(language),
    ...instancePages(language),
  };
}
