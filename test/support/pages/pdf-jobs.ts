import type { ReceiptPage } from '#lib/contracts/pages.ts';
import type { Drawn } from '../../../services/forms/pages/page-model.ts';
import type { PdfJob } from '../../../services/forms/pdf/typesetter.ts';
import type { SampleLanguage } from '../samples/sample-content.ts';
import { renderer } from './page-renderer.ts';
import { samplePages } from './sample-pages.ts';

/** The sample receipt in a language. */
export function sampleReceiptPage(language: SampleLanguage): Drawn<ReceiptPage> {
  return samplePages(language).receipt as Drawn<ReceiptPage>;
}

/** What the forms service hands over to render this page as PDF. */
export function pdfJob(page: Drawn<ReceiptPage>): PdfJob {
  return {
    html: renderer.render(page),
    jws: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln',
    date: page.receipt.timestamp,
    footer: `${page.receipt.collector.name} · ${page.receipt.receiptId}`,
    ...renderer.paperWords(page),
  };
}
