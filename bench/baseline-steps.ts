import { randomBytes, randomUUID } from 'node:crypto';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { commitTransaction } from '../services/transactions/answer/store.ts';
import { readReceipt } from '../services/transactions/receipts/store.ts';
import { readTransactionWithEarlier } from '../services/transactions/standing/earlier-store.ts';
import { insertWithClaim, readTransaction } from '../services/transactions/transaction/store.ts';
import { readResult } from '../services/transactions/withdrawal/results.ts';
import type { BaselineForms } from './baseline-forms.ts';

const source = 'http://localhost';

/**
 * Each step with Accord's statements and parameters like Accord's; what Accord works out (layout, records,
 * receipt) is taken from the sample transaction that the folder holds.
 */
export async function createBaselineSteps({ db, forms }: { db: Queries; forms: BaselineForms }) {
  const { id: sampleId } = await db.one<{ id: string }>(
    sql`SELECT t.id FROM transactions AS t WHERE t.subject = 'sample'`,
  );
  const sample = (await readTransaction(db, sampleId))?.transaction;
  const receipt = await readReceipt(db, sampleId);
  if (!sample || !receipt) throw new Error('The folder has no sample transaction.');
  const { context: defaults, layout } = sample;
  const expiresAt = new Date(Date.now() + 180 * 24 * 3600 * 1000).toISOString();

  return {
    async create(body: { subject: string; attributes: Record<string, string> }) {
      await forms.resolveLayout({ layout: 'layout.001', pinned: layout });
      const id = randomId();
      const context = { ...defaults, ...body };
      const created = { id, context, layout, author: 'bench', parent: null, createdBy: null };
      const made = await insertWithClaim(db, randomBytes(32), created, source);
      return { ...made?.transaction };
    },

    /** @returns the final page, or undefined if the subject is redirected to the form. */
    async open(id: string): Promise<string | undefined> {
      const read = await readResult(db, id);
      if (read?.transaction.state !== 'COMMITTED') return undefined;
      return (await forms.renderPage({ page: JSON.parse(read.receipt ?? '') })).html;
    },

    async form(id: string) {
      const read = await readTransactionWithEarlier(db, id);
      return (await forms.renderPage({ layout, page: { context: read?.transaction.context } })).html;
    },

    async submit(id: string, fields: URLSearchParams) {
      const read = await readTransaction(db, id);
      const { answers } = await forms.checkAnswers({ layout, answers: [...fields] });
      const records = answers
        .filter(([name]) => name.startsWith('element/'))
        .map(([name, value]) => {
          const [, type = '', key = '', serial = ''] = name.split('/');
          const given = { key, type, serial, value: [value], positions: [0], expiresAt };
          // What is in force is a question that only Accord asks.
          const effect = { isInForce: false, ends: null, withdraws: null };
          return { id: randomUUID(), infoKey: layout.info, infoSerial: '1.0', ...given, ...effect };
        });
      const facts = {
        id,
        version: read?.transaction.version ?? 0,
        subject: read?.transaction.subject ?? '',
        seen: null,
        source: null,
        answersDigest: randomBytes(32),
        submittedAt: read?.now ?? new Date(),
        givenAt: read?.now ?? new Date(),
        object: '',
        origin: defaults.origin,
        author: 'bench',
        comment: null,
        validUntil: new Date(expiresAt),
        noticeAt: new Date(Date.now() + 150 * 86_400_000).toISOString(),
      };
      if (!(await commitTransaction(db, { ...facts, records, receipt, parts: [] }, source)))
        throw new Error('The answers were not stored.');
    },
  };
}
