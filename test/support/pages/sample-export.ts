import type { ExportedTransaction, ExportPage, ExportPart } from '#lib/contracts/export-page.ts';
import { exportMarker } from '#lib/contracts/export-page.ts';
import type { PageBase } from '#lib/contracts/page-base.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
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
        created: '2025-05-01T08:15:00Z',
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
  } satisfies { export: ExportPage; 'export-part': ExportPart };
}

function sampleTransactions({ given, withdrawn }: Receipts): ExportedTransaction[] {
  const times = { created: '2025-05-01T08:10:00Z', changed: '2025-05-01T08:15:00Z' };
  const nothing = { records: [], messages: [], recipients: [], parts: [] };
  const recordsOf = ({ consents }: ReceiptBody) =>
    consents.map(({ identifier, answer }) => ({
      element: identifier,
      answers: answer,
      state: 'COMMITTED',
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
      context: { origin: 'RECEIPT', validity: 'P6M' },
      receipt: withdrawn,
      records: recordsOf(withdrawn),
      recipients: [{ name: 'Letters Ltd', state: 'ACKNOWLEDGED', outcome: 'kept', since: times.changed }],
    },
    {
      ...nothing,
      ...times,
      id: '6Yd3kQ2mWzX8RtB5vNcJ1a',
      state: 'COMMITTED',
      author: 'STAFF',
      context: {
        origin: 'OPERATOR',
        validity: 'P1Y',
        callback: 'https://shop.example.org/thanks?order=4711',
        notificationRecipient: 'jane.doe@example.org',
        object: 'Room 12',
        subjectInfos: { name: 'Jane Doe' },
        attributes: { desk: '3' },
      },
      receipt: given,
      records: recordsOf(given),
      messages: [{ ...sent, kind: 'invitation', state: 'SENT', sent: times.created }],
      parts: [{ owner: 'City Lab', location: 'https://lab.example.org', state: 'accepted' }],
    },
    {
      ...nothing,
      ...times,
      id: '7Yd3kQ2mWzX8RtB5vNcJ1b',
      state: 'CREATED',
      context: { origin: 'WEBFORM', validity: 'P6M' },
    },
  ];
}

/** The whole document of an export, as a person gets it. */
export function renderExport(renderer: PageRenderer, sample: ReturnType<typeof sampleExport>): string {
  return renderer.render(sample.export).replace(exportMarker, () => renderer.render(sample['export-part']));
}
