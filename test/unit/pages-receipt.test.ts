import { describe, expect, it } from 'vitest';
import type { ReceiptPage } from '#lib/contracts/pages.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { samplePages } from '../support/pages/sample-pages.ts';

const sample = samplePages('en').receipt as ReceiptPage;
const dataController = { company: 'A hidden company', email: 'hidden@example.org' };
const information = { title: 'T', scope: 'A hidden scope', dataController };

/** The page of a receipt about texts with these flags. */
function page(flags: Record<string, boolean>, question: Record<string, boolean>): string {
  const receipt = structuredClone(sample.receipt);
  receipt.information.texts = { ...information, ...flags };
  for (const consent of receipt.consents)
    if (consent.type === 'processing')
      consent.texts = { ...consent.texts, dataController: { company: 'Somebody else' }, ...question };
  return renderer.render({ ...sample, receipt });
}

describe('a receipt', () => {
  it('does not claim that texts were shown which the page of the form hid', () => {
    const hidden = page({ dataControllerVisible: false }, { dataControllerVisible: false });
    expect(hidden).not.toMatch(/A hidden|hidden@|Somebody else/);
  });

  it('has those that the page showed', () => {
    const shown = page({ scopeVisible: true, dataControllerVisible: true }, {});
    for (const text of ['A hidden scope', 'A hidden company', 'hidden@example.org', 'Somebody else'])
      expect(shown).toContain(text);
  });
});
