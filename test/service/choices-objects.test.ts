import { DomUtils } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { choicesVisitor } from '../support/instances/choices-visitor.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letter, study } from '../support/instances/live-subject.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { type Element, parsePage } from '../support/pages/parse-page.ts';

const instance = useInstance({ RATE_LIMITS: 'user=10000,transaction=10000' });
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));

/** The page of a person, and a click at a button of it, as a browser without scripts does it. */
async function visit(subject: string) {
  const { url } = (await (await shop.send('POST', '/choices', { subject })).json()) as { url: string };
  const visitor = choicesVisitor(instance);
  const page = async () => parsePage(await (await visitor.get(url)).text());
  return {
    async click(choose: (form: Element, text: string) => boolean) {
      const shown = await page();
      const form = shown
        .tagged('form')
        .find((each) => choose(each, shown.text(each).replaceAll(/\s+/g, ' ').trim()));
      if (!form) throw new Error('the page has no such button');
      const fields = inputsOf(form).map(({ attribs }): [string, string] => [
        attribs.name ?? '',
        attribs.value ?? '',
      ]);
      return visitor.post(form.attribs.action ?? '', fields);
    },
    post: (fields: [string, string][]) =>
      visitor.post(url.replace('/choices?', '/choices/withdraw?'), fields),
  };
}

const inputsOf = (form: Element) => DomUtils.getElementsByTagName('input', form);

/** Whether a form withdraws an answer about an object. */
const isAbout = (object: string) => (form: Element, text: string) =>
  /^Withdraw(?! all)/.test(text) &&
  inputsOf(form).every(({ attribs }) => attribs.name !== 'object' || attribs.value === object);

/** What is in force of a person: object and key. */
const acceptedOf = async (subject: string) =>
  Object.values(await recordsOf(shop, subject))
    .flat()
    .filter(({ value, status }) => value === 'accepted' && status === 'VALID')
    .map(({ bodyKey, object = '' }) => `${object}/${bodyKey}`)
    .sort();

async function answersOfTwoObjects(subject: string) {
  await recordAnswers(shop, subject, { [letter]: ['accepted'] }, { object: 'card 7' });
  await recordAnswers(shop, subject, { [letter]: ['accepted'] });
}

describe('a consent of several objects', () => {
  it('is withdrawn on the page for its own object alone, be it none', async () => {
    await answersOfTwoObjects('ann');
    const ann = await visit('ann');
    expect((await ann.click(isAbout(''))).status).toBe(303);
    expect(await acceptedOf('ann')).toEqual(['card 7/processing.001']);
    await answersOfTwoObjects('ben');
    const ben = await visit('ben');
    expect((await ben.click(isAbout('card 7'))).status).toBe(303);
    expect(await acceptedOf('ben')).toEqual(['/processing.001']);
  });

  it('is withdrawn by a program for no object with an empty one, and for all without a word of it', async () => {
    await answersOfTwoObjects('cid');
    const named = { subject: 'cid', elements: [letter] };
    expect((await shop.send('POST', '/choices/withdraw', { ...named, object: '' })).status).toBe(201);
    expect(await acceptedOf('cid')).toEqual(['card 7/processing.001']);
    await answersOfTwoObjects('dan');
    expect((await shop.send('POST', '/choices/withdraw', { ...named, subject: 'dan' })).status).toBe(201);
    expect(await acceptedOf('dan')).toEqual([]);
  });
});

describe('a person with more than 200 consents', () => {
  it('withdraws all of them in one click', async () => {
    const [, , element, serial] = letter.split('/');
    const given = new Date(Date.now() - 86_400_000).toISOString();
    const rows = Array.from({ length: 205 }, (_, place) => ({
      subject: 'eve',
      object: `card ${place}`,
      element,
      serial,
      answer: ['accepted'],
      given,
      validity: 'P10Y',
      source: 'Old system',
      sourceId: `row ${place}`,
    }));
    const taken = await instance.fetch('/records/import', {
      method: 'POST',
      headers: { ...admin.headers, 'Content-Type': 'application/x-ndjson' },
      body: rows.map((each) => JSON.stringify(each)).join('\n'),
    });
    expect(await taken.json()).toMatchObject({ created: 205 });
    const eve = await visit('eve');
    expect((await eve.click((_, text) => text.startsWith('Withdraw all consents'))).status).toBe(303);
    expect(await acceptedOf('eve')).toEqual([]);
  });

  it('names on the page as many questions as it shows, and in a program 200', async () => {
    await recordAnswers(shop, 'fay', { [letter]: ['accepted'], [study]: ['accepted'] });
    const fay = await visit('fay');
    const named = Array.from({ length: 999 }, (_, place): [string, string] => ['elements', `no.${place}`]);
    expect((await fay.post([...named, ['elements', letter], ['elements', study]])).status).toBe(422);
    expect((await fay.post([...named, ['elements', letter]])).status).toBe(303);
    expect(await acceptedOf('fay')).toEqual(['/processing.002']);
    const elements = [...named.slice(0, 200).map(([, name]) => name), study];
    const sent = await shop.send('POST', '/choices/withdraw', { subject: 'fay', elements });
    expect(sent.status).toBe(422);
  });
});
