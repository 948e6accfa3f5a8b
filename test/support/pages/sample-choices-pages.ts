import type { ChoicesEntryPage, ChoicesPage } from '#lib/contracts/pages.ts';
import type { ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import type { Drawn, PageModel } from '../../../services/forms/pages/page-model.ts';
import { offeredAt } from './sample-offered.ts';

type Base = Pick<Drawn<ChoicesPage>, 'language' | 'instance' | 'theme'>;
type Choice = ChoicesPage['own']['choices'][number];

const link = (path: string) => `https://consent.riverside.example/choices${path}`;

const links = {
  withdraw: link('/withdraw'),
  change: link('/change'),
  erasure: link('/erasure'),
  export: link('/export'),
  end: link('/end'),
  again: link(''),
};

const last = '2025-05-03T08:31:00Z';
const sampleLeaders: ChoicesPage['leaders'] = [
  { name: 'Lakeside Clinic', location: 'https://clinic.example', page: 'https://clinic.example/choices' },
  { name: 'Old Clinic', location: 'https://old.example' },
];

const samplePeers: ChoicesPage['peers'] = [
  {
    name: 'Northern Lab',
    location: 'https://lab.example',
    sent: {
      forms: 2,
      last,
      state: 'RECEIVED',
      withdrawable: true,
      erasable: true,
      page: 'https://lab.example/choices#from=7Zk3pQxWm4tYv9LsRb2NcD',
    },
  },
  {
    name: 'Institute of Sleep',
    location: 'https://sleep.example:8443',
    sent: { forms: 1, last, state: 'SENDING', withdrawable: true, erasable: true },
  },
  {
    name: 'Harbour Pharmacy',
    location: 'https://pharmacy.example',
    sent: {
      forms: 3,
      last,
      state: 'WITHDRAWN',
      withdrawable: false,
      erasable: false,
      erasure: { state: 'DELIVERED', since: '2025-06-04T08:31:00Z' },
      withdrawal: { state: 'ACKNOWLEDGED', since: '2025-06-03T08:31:00Z' },
    },
  },
  {
    name: 'Old Library',
    location: 'https://library.example',
    sent: { forms: 1, last, state: 'UNKNOWN', withdrawable: false, erasable: false },
  },
  {
    name: 'Valley School',
    location: 'https://school.example',
    sent: {
      forms: 1,
      last,
      state: 'RECEIVED',
      withdrawable: false,
      erasable: false,
      erasure: { state: 'ACKNOWLEDGED', outcome: 'done', since: '2025-06-04T08:31:00Z' },
    },
  },
];

/** One answer of each kind. @param consents of a receipt, whose texts the choices have. */
function sampleChoices(consents: readonly ReceiptConsent[]): Choice[] {
  const reasons: Partial<Choice>[] = [
    { reason: 'GIVEN', status: 'VALID', expires: '2026-05-03T08:31:00Z', withdrawable: true },
    {
      reason: 'WITHDRAWN',
      status: 'VALID',
      answers: ['refused'],
      recipients: [
        { name: 'Letters Ltd', state: 'ACKNOWLEDGED', since: '2025-06-03T08:31:00Z' },
        { name: 'Newsletters & Sons', state: 'OVERDUE', since: '2025-06-04T08:31:00Z' },
      ],
    },
    { reason: 'EXPIRED', status: 'EXPIRED', expires: '2025-05-01T08:31:00Z' },
    { reason: 'NOT_ACTIVE', status: 'IRRELEVANT', changeable: false, object: 'Study 4711' },
  ];
  return reasons.map((more, index) => {
    const { identifier, texts, lang, answer } = consents[index % consents.length] as ReceiptConsent;
    return {
      identifier,
      title: String(texts.title ?? texts.label),
      language: lang,
      ...(typeof texts.usage === 'string' && { usage: texts.usage }),
      ...(typeof texts.data === 'string' && { data: texts.data }),
      recipients: [],
      answers: answer,
      status: 'VALID',
      reason: 'GIVEN',
      given: '2025-05-03T08:31:00Z',
      withdrawable: false,
      changeable: true,
      receipt: `https://consent.riverside.example/receipts/6Yd3kQ2mWzX8RtB5vNcJ1a?t=sample`,
      history: [
        { answers: ['refused'], given: '2024-05-03T08:31:00Z', withdraws: true },
        { answers: ['accepted'], given: '2023-05-03T08:31:00Z' },
      ],
      ...more,
    };
  });
}

/** Every state of the page of choices, and of the page before a session. */
export function sampleChoicesPages(
  base: Base,
  consents: readonly ReceiptConsent[],
): Record<string, PageModel> {
  const own = { name: base.instance.name, location: base.instance.baseUrl, choices: sampleChoices(consents) };
  const shown = own.choices.map(
    ({ identifier }) => consents.find((consent) => consent.identifier === identifier) ?? null,
  );
  const page = (more: Partial<ChoicesPage>): Drawn<ChoicesPage> => ({
    ...base,
    page: 'choices',
    own,
    peers: [],
    leaders: [],
    isWhole: true,
    shown,
    audit: [{ at: '2025-05-04T08:31:00Z', action: 'receipt.read', by: 'account' }],
    erasures: [],
    done: null,
    isFresh: true,
    inFrame: false,
    links,
    ...more,
  });
  const entry = (stage: ChoicesEntryPage['stage'], more: Partial<ChoicesEntryPage> = {}) => ({
    ...base,
    page: 'choices-entry' as const,
    stage,
    url: link('/link'),
    isMailed: true,
    ...more,
  });
  const asked = {
    id: '5sVdYk2pQxWm4tYv9LsRb2',
    created: '2025-06-01T08:31:00Z',
    due: '2025-07-01T08:31:00Z',
  };
  return {
    choices: { ...page({}), offered: offeredAt('/choices') },
    'choices-peers': page({ peers: samplePeers }),
    'choices-peers-framed': page({ peers: samplePeers, inFrame: true }),
    'choices-leaders': page({ leaders: sampleLeaders }),
    'choices-part': page({
      own: {
        ...own,
        choices: own.choices.map(({ receipt: _, ...each }) => ({ ...each, changeable: false })),
      },
      leaders: sampleLeaders,
      isWhole: false,
      audit: [],
    }),
    'choices-withdrawn': page({ done: 'withdrawn', isFresh: false }),
    'choices-erasure': page({ done: 'erasure', erasures: [{ ...asked, state: 'REQUESTED' }] }),
    'choices-held': page({ erasures: [{ ...asked, state: 'HELD' }] }),
    'choices-framed': page({ inFrame: true, returnUrl: 'https://shop.example/account' }),
    'choices-read': page({ links: undefined }),
    'choices-none': page({ own: { ...own, choices: [] }, shown: [], audit: [] }),
    'choices-ask': { ...entry('ask'), offered: offeredAt('/choices') },
    'choices-faulty': entry('ask', { fault: { address: 'ann@' } }),
    'choices-no-mail': entry('ask', { isMailed: false }),
    'choices-sent': entry('sent'),
    'choices-sent-from': entry('sent', { isFromPeer: true }),
    'choices-open': entry('open', { url: link('/open?t=sample') }),
    'choices-over': entry('over'),
    'choices-ended': entry('ended'),
  };
}
