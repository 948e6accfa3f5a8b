import type { PageBase } from '#lib/contracts/page-base.ts';
import { type ExportPage, type ExportPart, exportMarker } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Drawn } from '../../../services/forms/pages/page-model.ts';
import type { PageRenderer } from '../../../services/forms/pages/page-renderer.ts';

interface Receipts {
  given: ReceiptBody;
  withdrawn: ReceiptBody;
}

/** The data of a person: an open request, answers of which a peer keeps some, and their withdrawal. */
export function sampleExport(base: PageBase, receipts: Receipts) {
  return {
    export: {
      ...base,
      page: 'export',
      at: '2025-05-03T12:02:00Z',
      subject: {
        id: '0196a1d0-6f3c-7e2b-a1c9-0d8e7f6a5b4c',
        name: 'jane.doe@example.org',
        emailAddress: 'jane.doe@example.org',
        defaultLanguage: 'fr',
        creationTimestamp: Date.parse('2025-05-01T08:15:00Z'),
      },
      count: 3,
      isCut: true,
      peers: [{ name: 'City Lab', location: 'https://lab.example.org' }],
      hold: { reason: 'Claim 4711', restrict: true, since: '2025-05-02T09:00:00Z' },
      erasures: [
        {
          id: '8Yd3kQ2mWzX8RtB5vNcJ1d',
          state: 'HELD',
          reason: 'I have moved away.',
          created: '2025-05-02T10:00:00Z',
          due: '2025-06-02T10:00:00Z',
        },
        {
          id: '9Yd3kQ2mWzX8RtB5vNcJ1e',
          state: 'REFUSED',
          ground: 'Kept by law for ten years',
          peer: 'https://lab.example.org',
          created: '2025-05-01T10:00:00Z',
          due: '2025-06-01T10:00:00Z',
          done: '2025-05-01T12:00:00Z',
        },
      ],
      audit: [
        { at: '2025-05-03T12:01:00Z', action: 'subject.exported', by: 'account' },
        { at: '2025-05-01T08:15:00Z', action: 'receipt.signed', by: 'system' },
      ],
    },
    'export-part': { ...base, page: 'export-part', transactions: sampleTransactions(receipts) },
  } satisfies { export: Drawn<ExportPage>; 'export-part': Drawn<ExportPart> };
}

type Transaction = ExportPart['transactions'][number];

function sampleTransactions({ given, withdrawn }: Receipts): Transaction[] {
  const times = { created: '2025-05-01T08:10:00Z', changed: '2025-05-01T08:15:00Z' };
  const nothing = { records: [], messages: [], recipients: [], followers: [] };
  const defaults = {
    subject: 'jane.doe@example.org',
    callbackTriggerDelay: 4_000,
    confirmation: 'NONE',
    updatable: true,
    cancellable: false,
    silent: false,
    sendInvitation: false,
    peerCommit: 'independent',
    timeout: 'P7D',
  } as const;
  const receiptIn = (receipt: ReceiptBody) => receipt as Transaction['receipt'];
  const recordsOf = ({ consents }: ReceiptBody) =>
    consents.map(({ identifier, answer }) => ({
      record: '0196a1d0-6f3c-7e2b-a1c9-0d8e7f6a5b4d',
      element: identifier,
      information: 'element/information/information.001/1.0',
      answers: answer,
      state: 'COMMITTED' as const,
      origin: 'WEBFORM' as const,
      comment: 'On the telephone',
      created: times.changed,
      expires: '2026-05-01T08:15:00Z',
    }));
  const sent = { channel: 'mail', destination: 'j…@example.org', created: times.created } as const;
  return [
    {
      ...nothing,
      ...times,
      id: '5Yd3kQ2mWzX8RtB5vNcJ1c',
      state: 'COMMITTED',
      kind: 'WITHDRAWAL',
      context: { ...defaults, origin: 'RECEIPT', validity: 'P6M' },
      receipt: receiptIn(withdrawn),
      records: recordsOf(withdrawn),
      recipients: [
        {
          name: 'Letters Ltd',
          kind: 'RECIPIENT',
          state: 'ACKNOWLEDGED',
          outcome: 'kept',
          since: times.changed,
        },
      ],
    },
    {
      ...nothing,
      ...times,
      id: '6Yd3kQ2mWzX8RtB5vNcJ1a',
      state: 'COMMITTED',
      author: 'STAFF',
      context: {
        ...defaults,
        origin: 'OPERATOR',
        validity: 'P1Y',
        callback: 'https://shop.example.org/thanks?order=4711',
        notificationRecipient: 'jane.doe@example.org',
        object: 'Room 12',
        subjectInfos: { name: 'Jane Doe' },
        attributes: { desk: '3' },
      },
      receipt: receiptIn(given),
      records: recordsOf(given),
      messages: [{ ...sent, kind: 'invitation', state: 'SENT', sent: times.created }],
      followers: [
        { name: 'City Lab', location: 'https://lab.example.org', state: 'ACCEPTED', changed: times.changed },
      ],
    },
    {
      ...nothing,
      ...times,
      id: '7Yd3kQ2mWzX8RtB5vNcJ1b',
      state: 'CREATED',
      context: { ...defaults, origin: 'WEBFORM', validity: 'P6M' },
    },
  ];
}

/** The whole document of an export, as a person gets it. */
export function renderExport(renderer: PageRenderer, sample: ReturnType<typeof sampleExport>): string {
  return renderer.render(sample.export).replace(exportMarker, () => renderer.render(sample['export-part']));
}
