import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { isErasable } from '../erasure/erase-at-peers.ts';
import { isInForce } from '../person/positions-sql.ts';
import { readReceiptBodies } from '../receipts/store.ts';
import { erasureNotice, readNotices, withdrawalNotice } from '../sent-parts/notices-store.ts';
import { readActiveVersions } from '../standing/active-versions.ts';
import { readNow } from '../transaction/store.ts';
import { andBrought, type Scope } from './brought.ts';
import { type Choice, composeChoice, type StoredChoice } from './choice.ts';
import type { SentPart } from './sent-answers.ts';

/** How many answers the page shows. */
export const maxChoices = 1_000;
const maxHistory = 20;

/** The answers in force of a person, newest first, with the earlier ones to the same questions. */
function readStored(db: Queries, subject: string, scope: Scope): Promise<StoredChoice[]> {
  return db.query<StoredChoice>(sql`
    SELECT f.transaction, f.object, f.key, f.type, f.serial, f.info_key AS "infoKey",
           f.info_serial AS "infoSerial", f.state, f.value, f.withdraws, f.created_at AS "givenAt",
           f.expires_at AS "expiresAt", true AS "isInForce", t.token_epoch AS epoch,
           t.valid_until AS "validUntil",
           (SELECT a.source FROM imported_answers AS a WHERE a.record = f.id) AS "importedFrom",
           coalesce(h.history, '[]'::jsonb) AS history
      FROM (SELECT r.* FROM records AS r
             WHERE r.subject = ${subject} AND ${isInForce} ${andBrought(scope)}
             ORDER BY r.created_at DESC, r.id DESC LIMIT ${maxChoices}) AS f
      JOIN transactions AS t ON t.id = f.transaction
     CROSS JOIN LATERAL (
           SELECT jsonb_agg(jsonb_build_object('value', e.value, 'givenAt', e.created_at, 'withdraws', e.withdraws)
                            ORDER BY e.until_position DESC) AS history
             FROM (SELECT r.* FROM records AS r
                    WHERE r.subject = f.subject AND r.object = f.object AND r.key = f.key
                      AND r.state = 'COMMITTED' AND r.until_position IS NOT NULL ${andBrought(scope)}
                    ORDER BY r.until_position DESC LIMIT ${maxHistory}) AS e) AS h
     ORDER BY f.created_at DESC, f.id DESC`);
}

/** Everything that a person has said here and that a session sees, and what can be done about it. */
export async function readChoices(
  { db, forms }: { db: Queries; forms: Pick<FormsOperations, 'activeVersions'> },
  subject: string,
  scope?: Scope,
): Promise<Choice[]> {
  const stored = await readStored(db, subject, scope);
  const transactions = [...new Set(stored.map(({ transaction }) => transaction))];
  const [bodies, notices, active, now] = await Promise.all([
    readReceiptBodies(db, transactions),
    readNotices(db, transactions),
    readActiveVersions(forms, stored),
    readNow(db),
  ]);
  const receipts = new Map([...bodies].map(([id, body]) => [id, JSON.parse(body) as ReceiptBody]));
  return stored.map((each) =>
    composeChoice(each, {
      receipt: receipts.get(each.transaction),
      notices: notices.get(each.transaction) ?? [],
      active,
      now,
    }),
  );
}

/** SQL: whether the person entered an address and confirmed it with the code that released the parts. */
const isConfirmed = sql`(t.created_by LIKE 'public:%' AND t.context->>'confirmation' = 'EMAIL_CODE')`;

/** The parts of a person's answers that were sent from here. */
export function readSentParts(db: Queries, subject: string): Promise<SentPart[]> {
  return db.query<SentPart>(sql`
    SELECT f.sid, f.location, f.name, f.state, f.reason, f.shown, f.transaction, t.changed_at AS "givenAt",
           ${isConfirmed} AS "isConfirmed",
           CASE WHEN n.state IS NOT NULL THEN jsonb_build_object('state', n.state, 'since', n.since) END AS withdrawal,
           ${isErasable} AS "isErasable",
           CASE WHEN e.state IS NOT NULL
                THEN jsonb_build_object('state', e.state, 'outcome', e.outcome, 'since', e.since) END AS erasure
      FROM transactions AS t JOIN sent_parts AS f ON f.transaction = t.id
      LEFT JOIN ${withdrawalNotice}
      LEFT JOIN ${erasureNotice}
     WHERE t.subject = ${subject} AND t.state IN ('COMMITTED', 'SUBMITTED')`);
}
