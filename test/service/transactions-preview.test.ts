import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const preview = (context: object, headers: Record<string, string> = { Accept: 'text/html' }) =>
  shop.send('POST', '/consents/preview', { layout: 'layout.001', ...context }, headers);

describe('a preview', () => {
  it('is the form as its subject would see it, without a way to submit', async () => {
    const answer = await preview({ subject: 'alice' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/html');
    const page = parsePage(await answer.text());
    expect(page.text()).toContain('The programme letter');
    const buttons = page.tagged('button');
    expect(buttons.length).toBeGreaterThan(0);
    for (const { attribs } of buttons) expect(attribs).toHaveProperty('disabled');
    for (const { attribs } of page.tagged('form')) expect(attribs).not.toHaveProperty('action');
    expect(JSON.stringify(page.skeleton)).not.toContain('?t=');
  });

  it('stores no transaction, subject or event', async () => {
    await preview({ subject: 'bea' });
    for (const table of ['transactions', 'transaction_history', 'context_claims', 'subjects', 'outbox'])
      expect(await rowsOf(instance, `SELECT * FROM transactions.${table}`)).toEqual([]);
  });

  it('is a page also for clients that accept anything, and needs no subject', async () => {
    const answer = await preview({}, { Accept: '*/*' });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([200, 'text/html']);
  });

  it('is in the language of the context, or of the reader', async () => {
    const inFrench = await (await preview({ language: 'fr' })).text();
    expect(inFrench).toContain('La lettre du programme');
    const inArabic = await preview({}, { Accept: 'text/html', 'Accept-Language': 'ar' });
    expect(await inArabic.text()).toContain('نشرة البرنامج');
  });

  it('of an invalid context is an error page', async () => {
    const answer = await preview({ validity: 'long' });
    expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([422, 'text/html']);
  });

  it('is forbidden to users', async () => {
    const user = await signIn(instance, 'user');
    const answer = await user.send('POST', '/consents/preview', { subject: 'user', layout: 'layout.001' });
    expect(answer.status).toBe(403);
  });

  it("shows the subject's earlier answers", async () => {
    const checkedIn = async (context: object) => {
      const page = parsePage(await (await preview(context)).text());
      return page.tagged('input').filter(({ attribs }) => 'checked' in attribs && attribs.value !== '')
        .length;
    };
    expect(await checkedIn({ subject: 'carl' })).toBe(0);
    await recordAnswers(shop, 'carl', { [letter]: ['accepted'] });
    expect(await checkedIn({ subject: 'carl' })).toBe(1);
    expect(await checkedIn({ subject: 'carl', silent: true })).toBe(0);
  });
});
