import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { isInForce } from '../person/positions-sql.ts';
import { readReceiptBodies } from '../receipts/store.ts';
import { readNotices, withdrawalNotice } from '../sent-parts/notices-store.ts';
import { readActiveVersions } from '../standing/active-versions.ts';
import { readNow } from '../transaction/store.ts';
import { type Choice, composeChoice, type StoredChoice } from './choice.ts';
import type { SentPart } from './sent-answers.ts';

const maxChoices = 1_000;
const maxHistory = 20;

/** The answers in force of a person, newest first, with the earlier ones to the same questions. */
function readStored(db: Queries, subject: string): Promise<StoredChoice[]> {
  return db.query<StoredChoice>(sql`
    SELECT r.transaction, r.object, r.key, r.type, r.serial, r.info_key AS "infoKey",
           r.info_serial AS "infoSerial", r.state, r.value, r.withdraws, r.created_at AS "givenAt",
           r.expires_at AS "expiresAt", true AS "isInForce", t.token_epoch AS epoch,
           t.valid_until AS "validUntil", coalesce(h.history, '[]'::jsonb) AS history
      FROM records AS r JOIN transactions AS t ON t.id = r.transaction
     CROSS JOIN LATERAL (
           SELECT jsonb_agg(jsonb_build_object('value', e.value, 'givenAt', e.created_at, 'withdraws', e.withdraws)
                            ORDER BY e.until_position DESC) AS history
             FROM (SELECT e.* FROM records AS e
                    WHERE e.subject = r.subject AND e.object = r.object AND e.key = r.key
                      AND e.state = 'COMMITTED' AND e.until_position IS NOT NULL
                    ORDER BY e.until_position DESC LIMIT ${maxHistory}) AS e) AS h
     WHERE r.subject = ${subject} AND ${isInForce}
     ORDER BY r.created_at DESC, r.id DESC LIMIT ${maxChoices}`);
}

/** Everything that a person has said here, and what can be done about it. */
export async function readChoices(
  { db, forms }: { db: Queries; forms: Pick<FormsOperations, 'activeVersions'> },
  subject: string,
): Promise<Choice[]> {
  const stored = await readStored(db, subject);
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

/** The parts of a person's answers that were sent from here. */
export function readSentParts(db: Queries, subject: string): Promise<SentPart[]> {
  return db.query<SentPart>(sql`
    SELECT f.location, f.name, f.state, f.reason, f.shown, f.transaction, t.changed_at AS "givenAt",
           CASE WHEN n.state IS NOT NULL THEN jsonb_build_object('state', n.state, 'since', n.since) END AS withdrawal
      FROM transactions AS t JOIN sent_parts AS f ON f.transaction = t.id
      LEFT JOIN ${withdrawalNotice}
     WHERE t.subject = ${subject} AND t.state IN ('COMMITTED', 'SUBMITTED')`);
}
