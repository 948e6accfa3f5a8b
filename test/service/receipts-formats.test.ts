import { beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import {
  createTransaction,
  expire,
  type LiveTransaction,
  recordAnswers,
} from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';

let made: LiveTransaction;
const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
beforeAll(async () => {
  const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
  made = await recordAnswers(operator, 'ann <b>bold</b>', answers, { language: 'fr' });
});

const get = (query: string, accept?: string) =>
  operator.get(`/receipts/${made.id}${query}`, accept === undefined ? {} : { Accept: accept });
const typeOf = (answer: Response) => answer.headers.get('content-type')?.split(';')[0];
const page = async (query = '') => parsePage(await (await get(query, 'text/html')).text());

describe('a receipt', () => {
  it.each([
    ['', '*/*', 'application/json'],
    ['', 'application/json', 'application/json'],
    ['', 'application/jose', 'application/jose'],
    ['', 'text/html', 'text/html'],
    ['', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['', 'application/pdf, application/jose;q=0.4', 'application/pdf'],
    ['?format=pdf', undefined, 'application/pdf'],
    ['?format=application/pdf&theme=theme.001', 'text/html', 'application/pdf'],
    ['?format=html', 'application/json', 'text/html'],
    ['?format=application/jose', 'text/html', 'application/jose'],
    ['?format=JWS', undefined, 'application/jose'],
    ['?format=text/html', undefined, 'text/html'],
    ['?format=json', 'image/png', 'application/json'],
    ['?format=application/xml', 'application/json', 'application/xml'],
    ['', 'application/xml;q=0.5, text/plain', 'text/plain'],
  ])('asked for with %j and Accept %j is %s', async (query, accept, type) => {
    const answer = await get(query, accept);
    expect(answer.status).toBe(200);
    expect(typeOf(answer)).toBe(type);
    expect(answer.headers.get('vary')).toContain('Accept');
  });

  it.each([
    ['?format=png', undefined],
    ['?format=toString', undefined],
    ['', 'image/png'],
  ])('is a 406 with %j and Accept %j', async (query, accept) => {
    expect((await get(query, accept)).status).toBe(406);
  });

  it('exists for committed transactions only', async () => {
    const open = await createTransaction(operator);
    const cancelled = await createTransaction(operator);
    const expired = await createTransaction(operator);
    await operator.send('POST', `/consents/${cancelled.id}/cancel`);
    await expire(instance, expired);
    for (const { id } of [open, cancelled, expired]) {
      expect((await operator.get(`/receipts/${id}`)).status).toBe(404);
      expect(
        (await operator.get(`/consents/${id}`).then((answer) => answer.json())) as object,
      ).not.toHaveProperty('receipt');
    }
    const seen = (await (await operator.get(`/consents/${made.id}`)).json()) as { receipt: string };
    expect(seen.receipt).toBe(`${instance.url}/receipts/${made.id}`);
    expect((await operator.get(seen.receipt)).status).toBe(200);
  });
});

describe("a receipt's page", () => {
  it('is in the language of the receipt, whatever the reader prefers', async () => {
    const answer = await operator.get(`/receipts/${made.id}`, {
      Accept: 'text/html',
      'Accept-Language': 'ar',
    });
    const { tagged, text } = parsePage(await answer.text());
    expect(tagged('html')[0]?.attribs).toMatchObject({ lang: 'fr', dir: 'ltr' });
    expect(text()).toContain('Reçu de consentement');
    expect(text()).toContain('La lettre du programme');
  });

  it('escapes texts, and has a QR code of the URL for changing the answers', async () => {
    const { tagged, text } = await page();
    expect(text()).toContain('ann <b>bold</b>');
    expect(tagged('b')).toEqual([]);
    expect(tagged('svg').filter(({ attribs }) => attribs.class === 'qr')).toHaveLength(1);
  });

  it('leads to the other formats, the final page and a change, with tokens that work', async () => {
    const { tagged } = await page();
    const links = tagged('a').map(({ attribs }) => attribs.href ?? '');
    const formats = links.filter((href) => href.includes('/receipts/'));
    const types = await Promise.all(formats.map(async (href) => typeOf(await instance.fetch(href))));
    expect(types).toEqual([
      'application/pdf',
      'text/plain',
      'application/xml',
      'application/json',
      'application/jose',
    ]);
    const back = links.find((href) => href.includes(`/consents/${made.id}?t=`)) ?? '';
    expect((await instance.fetch(back, { headers: { Accept: 'text/html' } })).status).toBe(200);
    const change = tagged('form').find(({ attribs }) => attribs.action?.includes('/child'));
    const changed = await instance.fetch(change?.attribs.action ?? '', {
      method: 'POST',
      headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(changed.status).toBe(303);
  });

  it('uses the requested theme, and ignores an unknown one', async () => {
    const styles = async (query: string) =>
      (await page(query))
        .tagged('link')
        .map(({ attribs }) => attribs.href ?? '')
        .filter((href) => href.includes('/themes/'));
    expect(await styles('')).toEqual([]);
    expect(await styles('?theme=theme.001')).toEqual([
      expect.stringContaining('/assets/themes/theme.001/1.0.css'),
    ]);
    for (const unknown of ['nowhere', 'processing.001', ''])
      expect(await styles(`?theme=${unknown}`)).toEqual([]);
  });
});
