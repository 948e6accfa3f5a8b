import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageContact } from '#lib/contracts/pages.ts';
import { Failure } from '#lib/errors/fail.ts';
import type { ReadTransaction } from '../domain/transaction.ts';

/** Whom the subject of a transaction without a receipt can ask: the data controller of its information; null once that is withdrawn. */
export async function ownerContact(
  forms: Pick<FormsOperations, 'describeForm'>,
  { transaction }: ReadTransaction,
  languages: string[],
): Promise<PageContact | null> {
  try {
    const { info } = await forms.describeForm({ layout: transaction.layout, languages });
    return info.content.dataController ?? null;
  } catch (error) {
    if (error instanceof Failure && error.code === 'withdrawn') return null;
    throw error;
  }
}
