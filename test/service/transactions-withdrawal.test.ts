import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { letter, problemOf, study, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));

const hiding = { elements: ['processing.001', 'processing.002'], existingElementsVisible: false };
const answers = { [letter]: ['accepted'], [study]: ['refused'] };
/** A subject who has answered everything that the transaction asks, before it was made. */
async function returning(context: Record<string, unknown> = {}) {
  const { subject } = await createTransaction(operator, {});
  await recordAnswers(operator, subject, answers);
  const made = await createTransaction(operator, { subject, layoutData: hiding, language: 'en', ...context });
  return { subject, made, as: subjectOf(instance, made) };
}
const linkNamed = (html: string, name: string) => {
  const page = parsePage(html);
  return page.tagged('a').find((link) => page.text(link) === name)?.attribs.href ?? '';
};

describe('answers that are valid already', () => {
  it('can be withdrawn from their page without a script; opening it changes nothing', async () => {
    const { subject, made, as } = await returning();
    const said = await (await as.get('/submit', 'text/html')).text();
    expect(said).toContain('You have already answered');
    const address = linkNamed(said, 'Change or withdraw my answers');
    const whole = await instance.fetch(address, { headers: { Accept: 'text/html' } });
    const page = parsePage(await whole.text());
    const checked = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
    expect(checked.map(({ attribs }) => [attribs.name, attribs.value])).toEqual([
      [letter, 'accepted'],
      [study, 'refused'],
    ]);
    expect((await transactionIn(as.get())).state).toBe('CREATED');
    const shown = { 'accord-shown': [letter, study] };
    expect((await as.submitForm({ ...shown, 'accord-action': ['refuse-all'] })).status).toBe(303);
    const records = await recordsOf(operator, subject);
    expect(records['processing.001']?.[0]).toMatchObject({ value: 'refused', transaction: made.id });
  });

  it('can be read and changed by a client too', async () => {
    const { as, made, subject } = await returning();
    const path = `/consents/${made.id}/submit?t=${made.token}&existingElementsVisible=true`;
    const form = await instance.fetch(path, { headers: { Accept: 'application/json' } });
    expect(((await form.json()) as { elements: unknown[] }).elements).toHaveLength(2);
    expect((await as.submit({ [letter]: ['refused'] })).status).toBe(200);
    const records = await recordsOf(operator, subject);
    expect(records['processing.001']?.[0]).toMatchObject({ value: 'refused' });
    expect(records['processing.002']).toHaveLength(1);
  });

  it('are all shown again if the whole form must be corrected', async () => {
    const { as } = await returning();
    const post = { 'accord-shown': [letter, study], [letter]: ['perhaps'], [study]: ['accepted'] };
    const page = parsePage(await (await as.submitForm(post)).text());
    expect(page.tagged('fieldset')).toHaveLength(2);
  });
});

describe('a child of a form that hides valid answers', () => {
  it('shows all elements, in HTML and JSON', async () => {
    const { subject, made, as } = await returning();
    await as.submit({});
    const child = await transactionIn(as.post('/child'));
    const next = subjectOf(instance, child);
    const form = await next.form();
    expect(form.elements.map(({ previous }) => previous?.answers)).toEqual([['accepted'], ['refused']]);
    expect(form.layout.existingElementsVisible).toBe(true);
    const html = await (await next.get('/submit', 'text/html')).text();
    expect(html).not.toContain('You have already answered');
    expect((await problemOf(await next.submit({}))).said).toBe('422 invalid-answer');
    expect((await next.submit({ ...answers, [letter]: ['refused'] })).status).toBe(200);
    expect((await recordsOf(operator, subject))['processing.001']?.[0]).toMatchObject({
      value: 'refused',
      transaction: child.id,
    });
    expect(child.parent).toBe(made.id);
  });
});

describe('a link in circulation', () => {
  /** The same token, minted so long ago that its life is over. */
  async function pastItsLife(token: string, claims: object = {}): Promise<string> {
    const [secret] = instance.secrets.transactionToken as [Uint8Array];
    const old = { ...decodeJwt(token), exp: Math.floor(Date.now() / 1000) - 60, ...claims };
    const { alg = '', typ = '', kid = '' } = decodeProtectedHeader(token);
    return new SignJWT(old).setProtectedHeader({ alg, typ, kid }).sign(secret);
  }
  async function committed() {
    const made = await createTransaction(operator, {
      layoutData: { elements: hiding.elements },
      language: 'en',
    });
    await subjectOf(instance, made).submit(answers);
    return { ...made, token: await pastItsLife(made.token) };
  }

  it('opens the final page, the receipt and the withdrawal while the receipt is valid', async () => {
    const made = await committed();
    const as = subjectOf(instance, made);
    const page = await (await as.get('', 'text/html')).text();
    expect(page).toContain('Keep your receipt: its link works until');
    const leads = await instance.fetch(`/consents/${made.id}/submit?t=${made.token}`, {
      headers: { Accept: 'text/html' },
      redirect: 'manual',
    });
    expect([leads.status, leads.headers.get('location')]).toEqual([
      303,
      expect.stringContaining(`/consents/${made.id}?t=`),
    ]);
    for (const address of [linkNamed(page, 'See the receipt'), leads.headers.get('location') ?? '']) {
      expect((await instance.fetch(address, { headers: { Accept: 'text/html' } })).status).toBe(200);
      const { use, exp = 0 } = decodeJwt(new URL(address).searchParams.get('t') ?? '');
      expect(use).toBe('receipt');
      // The link on the page works for as long as the page says.
      expect(exp * 1000 - Date.now()).toBeGreaterThan(170 * 86_400_000);
    }
    expect((await as.post('/child')).status).toBe(201);
  });

  it('does not open the task or an expired receipt', async () => {
    const made = await committed();
    const as = subjectOf(instance, made);
    expect((await as.submit(answers)).status).toBe(403);
    expect((await as.post('/cancel')).status).toBe(403);
    await letTimePass(instance, '7 months');
    expect((await as.get('', 'text/html')).status).toBe(401);
    expect((await as.post('/child')).status).toBe(401);
    await letTimePass(instance, '0');
  });

  it('of a transaction that is not committed expires, and so does one of a receipt', async () => {
    const open = await createTransaction(operator);
    expect((await subjectOf(instance, { ...open, token: await pastItsLife(open.token) }).get()).status).toBe(
      401,
    );
    const made = await committed();
    const token = await pastItsLife(made.token, { use: 'receipt' });
    const answer = await subjectOf(instance, { ...made, token }).get();
    expect([answer.status, answer.headers.has('www-authenticate')]).toEqual([401, true]);
    const revoked = await pastItsLife(made.token, { ep: -1 });
    expect((await subjectOf(instance, { ...made, token: revoked }).get()).status).toBe(401);
  });
});
