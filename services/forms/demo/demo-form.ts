import { randomInt } from 'node:crypto';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { Failure } from '#lib/errors/fail.ts';

/**
 * Makes a transaction of the demonstration. Each visitor of the first page is a subject of their own.
 * @returns the URL of the form; null when somebody has changed the demonstration's models so that there is none.
 */
export async function createDemoForm({
  createTransaction,
}: Pick<TransactionsOperations, 'createTransaction'>): Promise<string | null> {
  const context = {
    subject: `visitor-${randomInt(1e9)}`,
    layout: 'layout.001',
    cancellable: true,
    timeout: 'PT1H',
  };
  try {
    return (await createTransaction({ context, author: 'operator' })).url;
  } catch (error) {
    if (error instanceof Failure && error.code !== 'unavailable') return null;
    throw error;
  }
}
