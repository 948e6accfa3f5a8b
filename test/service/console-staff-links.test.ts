import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { fillInstance, patternOf } from '../support/console/walk-console.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { letter } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
let operator: ConsolePages;
let committed: { id: string };
beforeAll(async () => {
  await fillInstance(instance);
  const shop = await signIn(instance, 'operator');
  committed = await recordAnswers(shop, 'viktor', { [letter]: ['accepted'] });
  await createTransaction(shop, { subject: 'wanda' });
  operator = await openPages(instance, 'operator');
});
afterAll(() => operator?.close());

/** What lets its reader act as a person: a token of a transaction, or a page of the subject. */
const actsAsPerson = /[?&](amp;)?t=|eyJ[\w-]{20}|(href|src|action)="[^"]*\/consents\//;

describe('staff who look at pages of the console', () => {
  it('get nothing with which they could act as a person, wherever links and frames lead', async () => {
    // Of several transactions links are followed to one alone: that with a receipt is begun with, too.
    const answered = `/console/transactions/${committed.id}`;
    const found = new Map([
      ['/console', '/console'],
      [answered, answered],
    ]);
    const acting: string[] = [];
    for (const path of found.values()) {
      const response = await operator.get(path);
      const html = await response.text();
      // The compact JWS is a proof: no browser follows what is encoded in it.
      if (!path.includes('format=jose') && actsAsPerson.test(html)) acting.push(path);
      for (const [, , href = ''] of html.matchAll(/(href|src|formaction)="(\/[^"]*)"/g)) {
        const target = href.replaceAll('&amp;', '&');
        // Of the files of a receipt each is another one.
        const pattern = patternOf(target) + (target.match(/[?&](transaction|format=\w+)/g)?.join() ?? '');
        if (!found.has(pattern) && !/\/assets\//.test(target)) found.set(pattern, target);
      }
    }
    expect(acting).toEqual([]);
    const asked = [...found.values()];
    for (const format of ['html', 'pdf', 'text', 'json', 'xml'])
      expect(
        asked.some((each) => each.includes(`/receipts?`) && each.includes(`format=${format}`)),
        format,
      ).toBe(true);
    expect(asked.some((each) => each.includes('/transactions/'))).toBe(true);
  });

  it('read a receipt without buttons that withdraw or change, as it was signed', async () => {
    const path = `/console/receipts?transaction=${committed.id}`;
    expect(await (await operator.get(`/console/transactions/${committed.id}`)).text()).toContain(
      `href="${path}"`,
    );
    const page = await operator.get(`${path}&format=html`);
    expect(page.headers.get('content-security-policy')).toContain('sandbox');
    const html = await page.text();
    expect(html).toContain('viktor');
    expect(html).not.toMatch(/<form|<button|class="qr"|>Withdraw|>Change/);
    const text = await (await operator.get(`${path}&format=text`)).text();
    expect(text).toContain('viktor');
    expect(text).not.toMatch(/[?&]t=/);
    const signed = await (await operator.get(`${path}&format=jose`)).text();
    const shop = await signIn(instance, 'operator');
    expect(signed).toBe(await (await shop.get(`/receipts/${committed.id}?format=jose`)).text());
    // Clients that show the page to the person get it as before.
    const own = await instance.fetch(`/receipts/${committed.id}?format=html`, { headers: shop.headers });
    expect(await own.text()).toMatch(/<form/);
  });

  it('cannot withdraw for a person without the record saying so', async () => {
    const html = await (
      await operator.get(`/console/receipts?transaction=${committed.id}&format=html`)
    ).text();
    expect(html).not.toMatch(/withdraw["?]/);
  });
});
