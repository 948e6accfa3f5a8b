import { describe, expect, it } from 'vitest';
import type { PageModel } from '../../services/forms/pages/page-model.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { samplePages } from '../support/pages/sample-pages.ts';

const { form, committed, receipt } = samplePages('ar');
const isolated = (model: PageModel | undefined) => {
  const page = parsePage(renderer.render(model as PageModel));
  return page.tagged('bdi').map((element) => page.text(element));
};

describe('in a page from right to left', () => {
  it('an address keeps the direction of its own letters', () => {
    for (const model of [form, receipt]) expect(isolated(model).join()).toContain('12 Quai des Saules');
  });

  it('an answer keeps the direction of its own letters', () => {
    const consents = committed?.page === 'result' ? (committed.receipt?.consents ?? []) : [];
    const given = consents.flatMap(({ type, answer }) => (type === 'preference' ? answer : []));
    expect(given.length).toBeGreaterThan(1);
    expect(isolated(committed)).toEqual(expect.arrayContaining(given));
    const shown = receipt?.page === 'receipt' ? receipt.receipt.consents : [];
    const chosen = shown.filter(({ type }) => type === 'preference').flatMap(({ answer }) => answer);
    expect(chosen.length).toBeGreaterThan(0);
    expect(isolated(receipt)).toEqual(expect.arrayContaining(chosen));
  });
});
