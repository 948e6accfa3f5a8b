import type { FormChange, FormElement, FormInformation } from '#lib/contracts/form-content.ts';
import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ErrorPage, ResultPage, WithdrawalChoice } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';
import type { EnteredAnswers } from '../../../services/forms/domain/entered-answers.ts';
import type { Drawn, FormModel, PageModel } from '../../../services/forms/pages/page-model.ts';
import { sampleContract } from '../contract/sample-contract.ts';
import { type SampleLanguage, sampleElements, sampleInformation } from '../samples/sample-content.ts';
import { sampleChoicesPages } from './sample-choices-pages.ts';
import { sampleConfirmPages } from './sample-confirm-pages.ts';
import { sampleEntryPages } from './sample-entry-pages.ts';
import { sampleExport } from './sample-export.ts';
import { offeredAt } from './sample-offered.ts';

type Transaction = components['schemas']['ListedTransaction'];
type Follower = Transaction['followers'][number];

const baseUrl = 'https://consent.riverside.example';
const link = (path: string) => `${baseUrl}/consents/6Yd3kQ2mWzX8RtB5vNcJ1a${path}?t=sample`;
const hash = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** Names whom a subject can contact. */
const information = {
  texts: {
    dataController: {
      company: 'Riverside Clinic',
      email: 'privacy@riverside.example',
      phoneNumber: '+33 5 55 01 02 03',
    },
  },
};

/** An instance that is not the one who asks. */
const portal = { name: 'Health Portal of the City', baseUrl, timeZone: 'Europe/Paris' };

/** What all sample pages have. */
function base(language: string) {
  const instance = { name: 'Riverside Clinic', baseUrl, timeZone: 'Europe/Paris' };
  return { language, instance, theme: null };
}

const layout: PinnedLayout = {
  info: 'information.001',
  elements: [],
  orientation: 'VERTICAL',
  existingElementsVisible: true,
  validityVisible: true,
  acceptAllVisible: false,
  cancelVisible: false,
  footerOnTop: false,
  includeIFrameResizer: true,
  texts: {},
};

/** Links of a transaction besides that to itself, by its state. */
const linksIn: Partial<Record<Transaction['state'], Partial<Transaction['links']>>> = {
  SUBMITTED: { confirm: link('/confirm') },
  COMMITTED: {
    child: link('/child'),
    receipt: `${baseUrl}/receipts/6Yd3kQ2mWzX8RtB5vNcJ1a?t=sample`,
  },
  CANCELLED: { child: link('/child') },
  TIMEOUT: { child: link('/child') },
  ROLLBACK: { child: link('/child') },
};

/** What pages of a transaction have. @param more overrides anything of the transaction. */
function about(state: Transaction['state'], more: Partial<Transaction> = {}) {
  const transaction: Transaction = {
    id: '6Yd3kQ2mWzX8RtB5vNcJ1a',
    subject: 'alice.martin@example.org',
    state,
    breed: link('/child'),
    links: { subject: link(''), ...linksIn[state] },
    updatable: true,
    cancellable: true,
    created: '2025-05-03T08:30:00Z',
    expires: '2025-05-10T08:30:00Z',
    followers: [],
    context: {
      subject: 'alice.martin@example.org',
      origin: 'WEBFORM',
      validity: 'P6M',
      iframeOrigin: 'https://www.riverside.example',
      // Long enough for whoever looks at the page: it goes to its callback when that is over.
      callbackTriggerDelay: 600_000,
      confirmation: 'NONE',
      updatable: true,
      cancellable: true,
      silent: false,
      sendInvitation: false,
      peerCommit: 'independent',
      timeout: 'P7D',
    },
    ...more,
  };
  return { transaction, layout };
}

type SampleForm = Partial<
  Pick<FormModel['form'], 'info' | 'peers' | 'layout' | 'links' | 'languages'> &
    EnteredAnswers &
    Omit<FormModel, 'page' | 'form' | 'entered' | 'layout'> & { isPreview: boolean }
>;

/** A form page of some elements. @param more overrides anything. */
export function sampleForm(
  language: SampleLanguage,
  elements: FormElement[],
  { info = sampleInformation(language), peers = [], isPreview = false, ...more }: SampleForm = {},
): FormModel {
  const {
    layout: shown = layout,
    links = formLinks,
    values = {},
    faults = [],
    changed = [],
    removed,
    kept,
    languages = [],
    ...page
  } = more;
  return {
    ...base(language),
    ...(!isPreview && about('CREATED')),
    page: 'form',
    form: { language, languages, info, elements, peers, layout: shown, ...(!isPreview && { links }) },
    now: '2026-03-04T09:00:00.000Z',
    hidden: [],
    listsHidden: false,
    entered: { values, faults, changed, removed, kept },
    updatable: true,
    peersOptional: false,
    ...page,
  };
}

const everything = `${link('/submit')}&existingElementsVisible=true`;
const formLinks = { submit: link('/submit'), cancel: link('/cancel'), all: everything };

function formPages(language: SampleLanguage): Record<string, PageModel> {
  const { newsletter, research, record, channel, topics, remarks, site, terms } = sampleElements(
    language,
  ) as Record<string, FormElement> &
    Record<
      'newsletter' | 'research' | 'record' | 'channel' | 'topics' | 'remarks' | 'site' | 'terms',
      FormElement
    >;
  const plain = sampleForm(language, [newsletter, research, channel]);
  const layout = { ...plain.form.layout, acceptAllVisible: true, cancelVisible: true };
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
    'form-fitting': sampleForm(
      language,
      [
        objectionTo(newsletter),
        { ...research, content: { ...research.content, validity: 'P30Y' } } as FormElement,
        openTo(channel),
        openTo(earlier(site, site.answers?.slice(0, 1) ?? [])),
      ],
      { layout, gpc: true, languages: ['en', 'fr', 'ar'] },
    ),
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
      hidden: answeredBefore(language),
      listsHidden: true,
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
    'form-preview': sampleForm(language, [newsletter], { isPreview: true, layout }),
  };
}

/** A processing to which people may object. */
function objectionTo(element: FormElement): FormElement {
  const { refusable: _notice, ...asked } = element.content as { refusable?: boolean };
  const content = { ...asked, choice: 'OBJECTION', legalBases: ['LEGAL_BASIS_LEGITIMATE_INTEREST'] };
  return { ...element, required: false, content } as FormElement;
}

/** A question that need not be answered. */
function openTo(element: FormElement): FormElement {
  return { ...element, required: false, content: { ...element.content, optional: true } } as FormElement;
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

/** Elements with the answers of {@link sampleAnswers}, as a form has them. */
function answeredBefore(language: SampleLanguage): FormElement[] {
  return Object.entries(sampleAnswers(language)).map(
    ([name, answers]) =>
      ({
        ...sampleElements(language)[name as 'channel'],
        previous: { identifier: '', answers, created: '2025-05-03T09:12:00Z' },
      }) as FormElement,
  );
}

function sampleAnswers(language: SampleLanguage): Record<string, string[]> {
  const { channel, topics } = sampleElements(language);
  return {
    newsletter: ['accepted'],
    research: ['refused'],
    record: ['accepted'],
    channel: channel?.answers?.slice(0, 1) ?? [],
    topics: topics?.answers?.slice(0, 2) ?? [],
  };
}

/** The receipt of the sample answers. @param changed answers that differ. */
function receiptOf(language: SampleLanguage, changed: Record<string, string[]> = {}): ReceiptBody {
  const answers = Object.entries({ ...sampleAnswers(language), ...changed });
  const consents = answers.map(([name, answer]) =>
    consentTo(sampleElements(language)[name as 'channel'], language, answer),
  );
  return { ...sampleReceipt(language), consents };
}

/** Parts in every state. */
function sampleParts(language: SampleLanguage, first = 0, end?: number) {
  const titles = receiptOf(language).consents.map(({ texts }) => String(texts.title ?? texts.label));
  const parts = [
    [{ state: 'SENDING' }, 'University Hospital', 1],
    [{ state: 'HELD' }, 'Northern Research Laboratory for Sleep and Dreams', 2],
    [{ state: 'ACCEPTED' }, 'Lakeside Clinic', 1],
    [{ state: 'REFUSED', reason: 'stale' }, 'University Hospital', 2],
    [{ state: 'DROPPED', reason: 'expired' }, 'Northern Research Laboratory for Sleep and Dreams', 1],
    [{ state: 'DROPPED', reason: 'unsent' }, 'Lakeside Clinic', 1],
    [{ state: 'DROPPED', reason: 'withdrawn' }, 'University Hospital', 2],
  ] satisfies [Partial<Follower>, string, number][];
  const shown = parts.slice(first, end);
  return {
    followers: shown.map(([part, name]) => ({
      ...part,
      name,
      location: 'https://peer.example',
      changed: '2025-05-03T12:02:00Z',
    })),
    asked: shown.map(([, , count]) => titles.slice(1, 1 + count).map((title) => ({ title, lang: language }))),
  };
}

/** The first answers of `answers` can be withdrawn; the one after them has been. */
function withdrawalOf({ consents }: ReceiptBody, open: number): WithdrawalChoice {
  const standing = consents.slice(0, open + 1).map(({ identifier }, place) => ({
    identifier,
    withdrawn: place < open ? null : '2025-05-04T08:30:00Z',
  }));
  return { url: link('/withdraw'), standing, peers: [] };
}

function finalPages(language: SampleLanguage): Record<string, PageModel> {
  const at = '2025-05-03T12:02:00Z';
  const until = '2025-11-03T12:02:00Z';
  const callback = 'https://www.riverside.example/welcome?step=3';
  /** @param state of the transaction. @param more overrides anything of it. @param page of the page. */
  const result = (
    state: Transaction['state'],
    more: Partial<Transaction> = {},
    page: Partial<Drawn<ResultPage>> = {},
  ): PageModel => ({
    ...base(language),
    ...about(state, { expires: at, ...more }),
    page: 'result',
    asked: [],
    awaitsCode: false,
    changed: at,
    cancel: link('/cancel'),
    ...(!page.receipt && { information }),
    ...page,
  });
  const withParts = (
    state: Transaction['state'],
    first: number,
    end?: number,
    more: Partial<Transaction> = {},
  ) => {
    const { followers, asked } = sampleParts(language, first, end);
    return result(state, { followers, ...more }, { asked });
  };
  const closed = { links: { subject: link('') } };
  const given = receiptOf(language, { research: ['accepted'] });
  const nothing = { ...sampleReceipt(language), consents: [], expirationTimestamp: undefined };
  const { consents: withdrawn, ...withdrawal } = withdrawalReceipt(language);
  const { followers, asked } = sampleParts(language);
  const choicesAt = followers.map(({ state }) =>
    state === 'ACCEPTED' ? 'https://lab.example/choices#from=7Zk3pQxWm4tYv9LsRb2NcD' : null,
  );
  const since = at;
  return {
    committed: result(
      'COMMITTED',
      { followers },
      { asked, choicesAt, receipt: given, withdrawal: withdrawalOf(given, 2), receiptUntil: until },
    ),
    withdrawn: result(
      'COMMITTED',
      {
        kind: 'WITHDRAWAL',
        recipients: [
          { name: 'Northern Lab', kind: 'PEER', state: 'QUEUED', since },
          { name: 'Letters Ltd', kind: 'RECIPIENT', state: 'DELIVERED', since },
          { name: 'Invoice Service', kind: 'RECIPIENT', state: 'ACKNOWLEDGED', outcome: 'kept', since },
        ],
      },
      {
        receipt: { ...withdrawal, consents: withdrawn },
        withdrawal: withdrawalOf({ ...withdrawal, consents: withdrawn }, 1),
        keptBy: ['University Hospital'],
        receiptUntil: until,
      },
    ),
    'committed-sent': result(
      'COMMITTED',
      { followers: followers.slice(0, 3) },
      { asked, receipt: nothing, receiptUntil: until },
    ),
    'committed-callback': result(
      'COMMITTED',
      {
        callback,
        leader: { location: 'https://hospital.example', id: '1' },
        author: 'University Hospital',
        links: { ...closed.links, receipt: linksIn.COMMITTED?.receipt },
      },
      {
        receipt: { ...given, consents: given.consents.slice(0, 1), expirationTimestamp: undefined },
        receiptUntil: until,
      },
    ),
    cancelled: result('CANCELLED'),
    timeout: result('TIMEOUT'),
    'timeout-closed': result('TIMEOUT', closed),
    rolledback: result('ROLLBACK'),
    'rolledback-peers': withParts('ROLLBACK', 3, 6),
    'rolledback-withdrawn': withParts('ROLLBACK', 5, undefined, {
      followers: sampleParts(language, 5).followers.map((part) => ({
        ...part,
        withdrawal: { state: 'QUEUED', since },
      })),
    }),
    'rolledback-against': withParts('ROLLBACK', 2, 4),
    'rolledback-codes': result('ROLLBACK', {}, { awaitsCode: true }),
    submitted: withParts('SUBMITTED', 0, 2, { callback }),
    'submitted-at-peer': result('SUBMITTED', {
      cancellable: false,
      leader: { location: 'https://hospital.example', id: '1' },
      author: 'University Hospital',
    }),
    answered: {
      ...sampleForm(language, []),
      hidden: answeredBefore(language),
      form: { ...sampleForm(language, []).form, links: { submit: link('/submit'), all: everything } },
    },
    messages: {
      ...base(language),
      page: 'messages',
      messages: [
        {
          id: '1',
          channel: 'mail',
          at: '2025-05-03T12:04:00Z',
          from: 'Riverside Clinic <consent@riverside.example>',
          to: 'ann@example.org',
          subject: 'Your answers',
          html: '<!doctype html><html lang="en"><title>Your answers</title><body><p>Thank you.</p></body></html>',
          attachments: ['receipt.pdf'],
          sizes: [114_606],
          text: 'Thank you.',
        },
        {
          id: '2',
          channel: 'sms',
          at: '2025-05-03T12:02:00Z',
          to: '+33639981234',
          text: 'Your code: 407213\n@consent.example.org #407213',
          attachments: [],
          sizes: [],
        },
      ],
    },
    ...Object.fromEntries(
      ([undefined, 'genuine', 'not', 'none'] as const).map((outcome) => [
        `verify${outcome ? `-${outcome}` : ''}`,
        { ...base(language), page: 'verify' as const, ...(outcome && { outcome }) },
      ]),
    ),
    unsubscribe: {
      ...base(language),
      page: 'unsubscribe',
      state: 'asked',
      offered: offeredAt('/choices/unsubscribe?t=x'),
    },
    'unsubscribe-done': { ...base(language), page: 'unsubscribe', state: 'ended', undo: 'subscribe?t=x' },
    'messages-none': { ...base(language), page: 'messages', messages: [] },
    child: result(
      'COMMITTED',
      {},
      {
        page: 'child',
        instance: portal,
        information: { lang: 'en', texts: { dataController: { company: 'Riverside Clinic' } } },
        receipt: given,
        withdrawal: withdrawalOf(given, 2),
      },
    ),
  };
}

/** An error page as a subject gets it. */
function sampleError(language: string, code: ProblemCode, more: Partial<Drawn<ErrorPage>> = {}): PageModel {
  return { ...base(language), page: 'error', code, ...more };
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
    ...consentTo(element, language, answer),
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

/** A receipt with objections, a cleared answer, and answers that expire at different times. */
function fittingReceipt(language: SampleLanguage): ReceiptBody {
  const { newsletter, research, record, site } = sampleElements(language);
  const told = objectionTo(newsletter as FormElement);
  return {
    ...sampleReceipt(language),
    expirationTimestamp: '2055-05-03T09:12:00Z',
    consents: [
      { ...consentTo(told, language, ['accepted']), identifier: 'told' },
      consentTo(objectionTo(record as FormElement), language, ['refused']),
      { ...consentTo(research, language, ['accepted']), expirationTimestamp: '2025-11-03T09:12:00Z' },
      consentTo(site, language, []),
    ],
  };
}

function consentTo(element: FormElement | undefined, language: string, answer: string[]) {
  return {
    identifier: element?.identifier ?? '',
    type: element?.entry.type ?? 'processing',
    lang: language,
    texts: { ...element?.content },
    sha256: hash,
    options: element?.answers ?? [],
    answer,
    owner: null,
  };
}

function otherPages(language: SampleLanguage): Record<string, PageModel> {
  return {
    'error-expired': sampleError(language, 'expired', {
      links: { child: link('/child'), transaction: null },
    }),
    'error-expired-kept': sampleError(language, 'expired', {
      links: { child: link('/child'), transaction: null },
      layout: { ...layout, elements: ['newsletter'] },
      entered: { 'element/processing/newsletter/1.0': ['accepted'] },
    }),
    'error-closed': sampleError(language, 'expired', { information }),
    'error-wrong-state': sampleError(language, 'wrong-state', {
      links: { child: null, transaction: link('') },
    }),
    'error-not-found': sampleError(language, 'not-found'),
    'error-unauthorized': sampleError(language, 'unauthorized', {
      choices: 'https://consent.riverside.example/choices',
    }),
    'error-over': sampleError(language, 'not-found', { isOver: true }),
    'error-too-many': sampleError(language, 'too-many-requests', { retryAfter: 30 }),
    'receipt-withdrawal': {
      ...base(language),
      ...about('COMMITTED'),
      page: 'receipt',
      receipt: withdrawalReceipt(language),
    },
    'receipt-fitting': {
      ...base(language),
      ...about('COMMITTED'),
      page: 'receipt',
      receipt: fittingReceipt(language),
      withdrawal: {
        url: link('/withdraw'),
        standing: [{ identifier: 'told', withdrawn: null, isObjection: true }],
        peers: [],
      },
    },
    receipt: {
      ...base(language),
      ...about('COMMITTED'),
      page: 'receipt',
      receipt: sampleReceipt(language),
      withdrawal: withdrawalOf(sampleReceipt(language), 2),
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
  const { content } = sampleInformation(language);
  const asked = { lang: content.lang, texts: { ...content } };
  return {
    ...formPages(language),
    ...sampleEntryPages({ ...base(language), layout, information: asked }),
    ...sampleChoicesPages(base(language), sampleReceipt(language).consents),
    ...sampleConfirmPages({ ...base(language), ...about('SUBMITTED'), information }, link),
    ...finals,
    ...otherPages(language),
    ...exportPages(language),
    ...instancePages(language),
  };
}
