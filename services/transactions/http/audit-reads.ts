import type { AuditAction } from '#lib/audit/actions.ts';
import { recordAction } from '#lib/audit/record-action.ts';
import { isStaff, type Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import type { Handler } from '#lib/http/operation.ts';
import { findSubjectId, findSubjectIdOf, readSubjectById } from '../person/store.ts';
import { readText } from './filters.ts';

/** What is read of the request, as far as its operation has it. */
interface ReadRequest {
  principal: Principal;
  params: { txid?: string; name?: string };
  query: { subject?: string };
  body?: { subject?: string };
}

/** The id of the person whose data are read; undefined if they are those of many people, or of none. */
type Whose = (db: Database, request: ReadRequest) => Promise<string | undefined>;

/** A read that is recorded. */
interface RecordedRead {
  action: AuditAction;
  /** Absent: the operation is a list. */
  whose?: Whose;
  /** The action and the target if the data are those of many people. */
  ofMany?: { action: AuditAction; target: string };
}

const ofTransaction: Whose = (db, { params }) => findSubjectIdOf(db, params.txid ?? '');
const named = (name: string | undefined, db: Database) =>
  name === undefined ? Promise.resolve(undefined) : findSubjectId(db, name);
const ofSubject: Whose = (db, { params }) => named(readText(params.name), db);
/** The name or the id. */
const ofNameOrId: Whose = async (db, request) =>
  (await ofSubject(db, request)) ?? (await readSubjectById(db, request.params.name ?? ''))?.id;
const ofFilter: Whose = (db, { query }) => named(readText(query.subject), db);
const ofSearch: Whose = (db, { body }) => named(readText(body?.subject), db);

const transactionRead: RecordedRead = { action: 'transaction.read', whose: ofTransaction };
const manyTransactions = { action: 'transactions.listed', target: 'transaction/all' } as const;

/** By operationId. */
const recordedReads: Readonly<Record<string, RecordedRead>> = {
  getTransaction: transactionRead,
  getForm: transactionRead,
  getConfirmation: transactionRead,
  getChild: transactionRead,
  getContext: transactionRead,
  // Who has the link can read and answer.
  createShortLink: transactionRead,
  getHistory: transactionRead,
  listMessages: transactionRead,
  listTransactions: { action: 'transaction.read', whose: ofFilter, ofMany: manyTransactions },
  searchTransactions: { action: 'transaction.read', whose: ofSearch, ofMany: manyTransactions },
  getDocument: { action: 'document.read', whose: ofTransaction },
  getReceipt: { action: 'receipt.read', whose: ofTransaction },
  listRecords: { action: 'records.read', whose: ofFilter },
  getChoices: { action: 'records.read', whose: ofFilter },
  listSubjectRecords: { action: 'records.read', whose: ofSubject },
  getSubject: { action: 'subject.read', whose: ofNameOrId },
  listCampaignMembers: {
    action: 'subjects.listed',
    ofMany: { action: 'subjects.listed', target: 'subject/all' },
  },
  listSubjects: { action: 'subjects.listed', ofMany: { action: 'subjects.listed', target: 'subject/all' } },
};

/**
 * Records what people with an account read of others (docs/audit.md): after the read, and before the response
 * is sent. Programs with an API key read continuously and are not recorded.
 */
export function auditReads(
  db: Database,
  handlers: Readonly<Record<string, Handler<never>>>,
): Record<string, Handler<never>> {
  const audited = Object.entries(handlers).map(([operationId, handler]) => {
    const read = recordedReads[operationId];
    return [operationId, read ? auditRead(db, handler, read) : handler] as const;
  });
  return Object.fromEntries(audited);
}

function auditRead<Given extends ReadRequest>(
  db: Database,
  handler: Handler<Given>,
  { action, whose, ofMany }: RecordedRead,
): Handler<Given> {
  return async (ctx, input) => {
    await handler(ctx, input);
    if (!isStaff(input.principal)) return;
    const subject = await whose?.(db, input);
    if (subject !== undefined) await recordAction(db, { action, target: `subject/${subject}` });
    else if (ofMany) await recordAction(db, ofMany);
  };
}
