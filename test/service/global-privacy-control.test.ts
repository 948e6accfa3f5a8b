import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { complete, letter, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, expire, recordAnswers } from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const signal = { 'Sec-GPC': '1' };

/** The form of a subject who has accepted its processings before. */
async function openForm(
  headers: Record<string, string>,
  context?: Record<string, unknown> & { subject: string },
) {
  const { subject } =
    context ??
    (await recordAnswers(shop, `returning ${crypto.randomUUID()}`, {
      [letter]: ['accepted'],
      [study]: ['accepted'],
    }));
  const made = await createTransaction(shop, { subject, language: 'en', ...context });
  const path = `/consents/${made.id}/submit?t=${encodeURIComponent(made.token)}`;
  return {
    made,
    ...readForm(await (await instance.fetch(path, { headers: { Accept: 'text/html', ...headers } })).text()),
  };
}

/** The page of a form, the processings with a selected answer, and where it is submitted. */
function readForm(html: string) {
  const page = parsePage(html);
  const selected = page
    .tagged('input')
    .filter(({ attribs }) => 'checked' in attribs && attribs.type === 'radio' && attribs.value)
    .map(({ attribs }) => attribs.name);
  const submit = page.tagged('form').find(({ attribs }) => attribs.action?.includes('/submit'))
    ?.attribs.action;
  return { page, selected, submit: new URL(submit ?? '', instance.url) };
}

const receiptOf = async ({ id }: { id: string }) =>
  (await (await shop.get(`/receipts/${id}`)).json()) as { signals?: object };

describe('Global Privacy Control', () => {
  it('leaves an earlier consent to marketing unselected and says why; other answers stay selected', async () => {
    const without = await openForm({});
    expect(without.selected).toEqual(expect.arrayContaining([letter, study]));
    expect(without.page.text()).not.toContain('Global Privacy Control');
    const { selected, page } = await openForm(signal);
    expect(selected).not.toContain(letter);
    expect(selected).toContain(study);
    expect(page.text()).toMatch(/You accepted this on /);
    const notes = page.tagged('p').filter(({ attribs }) => attribs.id?.endsWith('-signal'));
    expect(notes).toHaveLength(1);
    const described = page
      .tagged('fieldset')
      .map(({ attribs }) => attribs['aria-describedby'] ?? '')
      .filter((ids) => ids.split(' ').includes(notes[0]?.attribs.id ?? ''));
    expect(described).toHaveLength(1);
  });

  it('is stated on the receipt of answers that were sent with it, and on no other', async () => {
    for (const [headers, signals] of [
      [signal, { gpc: true }],
      [{}, undefined],
    ] as const) {
      const made = await createTransaction(shop, { language: 'en' });
      await subjectOf(instance, made).submitForm(complete, headers);
      expect((await receiptOf(made)).signals).toEqual(signals);
      const text = await (await shop.get(`/receipts/${made.id}?format=text`)).text();
      expect(text.includes('Global Privacy Control')).toBe(signals !== undefined);
    }
  });

  it('at the form alone is remembered by the link of the form, in HTML and JSON, and by no other', async () => {
    const opened = async (accept: string) => {
      const made = await createTransaction(shop, { language: 'en' });
      const path = `/consents/${made.id}/submit?t=${encodeURIComponent(made.token)}`;
      const form = await instance.fetch(path, { headers: { Accept: accept, ...signal } });
      return { made, form };
    };
    const signalsOf = async (made: { id: string }) => (await receiptOf(made)).signals;

    const html = await opened('text/html');
    const { submit } = readForm(await html.form.text());
    const subject = subjectOf(instance, { ...html.made, token: submit.searchParams.get('t') ?? '' });
    const rejected = await subject.submitForm({ [letter]: ['accepted'] });
    expect(rejected.status).toBe(422);
    expect(await rejected.text()).toContain('Global Privacy Control');
    await subject.submitForm(complete);
    expect(await signalsOf(html.made)).toEqual({ gpc: true });

    const json = await opened('application/json');
    const { links } = (await json.form.json()) as { links: { submit: string } };
    const headers = { ...shop.headers, 'Content-Type': 'application/json', Accept: 'application/json' };
    const body = JSON.stringify(complete);
    expect((await instance.fetch(links.submit, { method: 'POST', headers, body })).status).toBe(200);
    expect(await signalsOf(json.made)).toEqual({ gpc: true });

    const unsigned = await opened('text/html');
    await subjectOf(instance, unsigned.made).submitForm(complete);
    expect(await signalsOf(unsigned.made)).toBeUndefined();
    // The link of another form carries no signal over.
    const other = await createTransaction(shop);
    const foreign = `/consents/${other.id}/submit?${new URL(links.submit).searchParams}`;
    expect((await instance.fetch(foreign, { method: 'POST', headers, body })).status).toBe(200);
    expect(await signalsOf(other)).toBeUndefined();
  });

  it('is kept by the form of a child that late answers are filled into', async () => {
    for (const [headers, signals] of [
      [signal, { gpc: true }],
      [{}, undefined],
    ] as const) {
      const { made } = await openForm({});
      await expire(instance, made);
      const response = await instance.fetch(
        `/consents/${made.id}/child?t=${encodeURIComponent(made.token)}`,
        {
          method: 'POST',
          headers: { Accept: 'text/html', ...headers },
          body: new URLSearchParams({ 'accord-shown': study, [study]: 'refused' }),
        },
      );
      expect(response.status).toBe(200);
      const { page, selected, submit } = readForm(await response.text());
      expect(selected).toEqual(signals ? [study] : [letter, study]);
      expect(page.text().includes('Global Privacy Control')).toBe(signals !== undefined);
      const child = { id: submit.pathname.split('/')[2] ?? '', token: submit.searchParams.get('t') ?? '' };
      expect(child.id).not.toBe(made.id);
      expect((await subjectOf(instance, child).submitForm(complete)).status).toBe(303);
      expect((await receiptOf(child)).signals).toEqual(signals);
    }
  });

  it('counts for sharing with third parties as for marketing, and for no other purpose', async () => {
    const admin = await signIn(instance, 'admin');
    const made = async (...purposes: string[]) =>
      (await makeLiveModel(admin, 'processing', { en: { ...sampleContent.processing, purposes } })).key;
    const [sharing, research] = [await made('CONSENT_THIRD_PART_SHARING'), await made('CONSENT_RESEARCH')];
    const nameOf = (key: string) => `element/processing/${key}/1.0`;
    const answers = { [nameOf(sharing)]: ['accepted'], [nameOf(research)]: ['accepted'] };
    const { subject } = await recordAnswers(shop, 'sharer', answers);
    const layoutData = { elements: [sharing, research] };
    const { selected } = await openForm(signal, { subject, layoutData, validity: 'P1Y' });
    expect(selected).toEqual([nameOf(research)]);
    expect((await openForm({}, { subject, layoutData, validity: 'P2Y' })).selected).toEqual([
      nameOf(sharing),
      nameOf(research),
    ]);
  });

  it('is stated on the receipt of a single step that was sent with it, and on no other', async () => {
    for (const [headers, signals] of [
      [signal, { gpc: true }],
      [{}, undefined],
    ] as const) {
      const context = {
        subject: `single ${crypto.randomUUID()}`,
        layoutData: { elements: ['processing.001', 'processing.002'] },
      };
      const response = await instance.fetch('/consents/singlestep', {
        method: 'POST',
        headers: {
          ...shop.headers,
          'Content-Type': 'application/json',
          Accept: 'application/json',
          ...headers,
        },
        body: JSON.stringify({ context, values: { [letter]: ['accepted'], [study]: ['refused'] } }),
      });
      expect(response.status).toBe(201);
      expect((await receiptOf((await response.json()) as { id: string })).signals).toEqual(signals);
    }
  });

  it('does not change what somebody answers', async () => {
    const made = await createTransaction(shop);
    await subjectOf(instance, made).submitForm(complete, signal);
    const receipt = (await (await shop.get(`/receipts/${made.id}`)).json()) as {
      consents: { answer: string[] }[];
    };
    expect(receipt.consents.map(({ answer }) => answer)).toEqual(Object.values(complete));
  });
});
