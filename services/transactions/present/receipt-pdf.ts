import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';

/**
 * Renders a receipt as PDF, with the signed receipt attached. Its only link with a token is the one in the QR
 * code.
 * @param asker who waits for it: askers take turns.
 * @param theme key or entry id of a theme; overrides the layout's.
 * @throws Failure `unavailable` if too many PDFs are being rendered; `not-acceptable` if the receipt is too
 * long or too complex.
 */
export async function receiptPdf(
  forms: FormsOperations,
  { transaction }: Pick<ReadTransaction, 'transaction'>,
  { receipt, jws }: { receipt: ReceiptBody; jws: string },
  { asker, theme }: { asker: string; theme?: string | undefined },
): Promise<Buffer> {
  const { pdf } = await forms.renderReceiptPdf({
    page: { page: 'receipt', receipt },
    languages: [receipt.language],
    themes: [theme, transaction.layout.theme],
    jws,
    asker,
  });
  return Buffer.from(pdf, 'base64');
}

/** `consent-consent.example.org-2025-05-03.pdf`: the instance, the day, and ASCII only. */
export function receiptFileName(
  { timestamp }: Pick<ReceiptBody, 'timestamp'>,
  instance: Pick<PageInstance, 'baseUrl'>,
  extension: string,
): string {
  const host = new URL(instance.baseUrl).hostname.replaceAll(/[^a-z0-9.-]/g, '');
  return `consent-${host}-${timestamp.slice(0, 10)}.${extension}`;
}
