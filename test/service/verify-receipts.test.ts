import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { createKey, patient, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const letter = 'element/processing/processing.001/1.0';

const answered = (subject: string) => recordAnswers(shop, subject, { [letter]: ['accepted'] });

async function receiptOf(subject: string, type: string, made = answered(subject)): Promise<Buffer> {
  const { id } = await made;
  const answer = await patient(shop).get(`/receipts/${id}`, { Accept: type });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

const verify = (body: Buffer, type: string, headers: Record<string, string> = {}) =>
  instance.fetch('/verify', {
    method: 'POST',
    headers: { 'Content-Type': type, ...headers },
    body: new Uint8Array(body),
  });
const told = async (body: Buffer, type: string) => (await verify(body, type)).json();

/** A file in the form of the page, as a browser sends it without a script. */
async function page(file: Buffer, language = 'en'): Promise<string> {
  const form = new FormData();
  form.append('receipt', new File([new Uint8Array(file)], 'receipt.pdf'));
  const headers = { Accept: 'text/html', 'Accept-Language': language };
  return (await fetch(new URL('/verify', instance.url), { method: 'POST', headers, body: form })).text();
}

/** A PDF as another program may write it: with the file compressed, and with others before it. */
const pdfWith = (jws: Buffer) =>
  Buffer.concat([
    Buffer.from('%PDF-1.7\n1 0 obj <</Type /EmbeddedFile>>\nstream\nnotes\nendstream endobj\n'),
    Buffer.from('2 0 obj <</Filter /FlateDecode /Type /EmbeddedFile>>\nstream\r\n'),
    deflateSync(jws),
    Buffer.from('\nendstream endobj'),
  ]);

describe('a person who is shown a receipt', () => {
  it('is told that it is genuine, by its PDF, its signature, or a page without a script', async () => {
    const made = answered('ann');
    const jws = await receiptOf('ann', 'application/jose', made);
    const pdf = await receiptOf('ann', 'application/pdf', made);
    expect(await told(jws, 'application/jose')).toEqual({ genuine: true });
    expect(await told(pdf, 'application/pdf')).toEqual({ genuine: true });
    expect(await told(pdfWith(jws), 'application/pdf')).toEqual({ genuine: true });
    const html = await page(pdf);
    expect(html).toContain('This receipt is genuine');
    expect(html).not.toContain('ann');
    expect(await page(jws, 'fr')).toContain('Ce reçu est authentique');
  });

  it('is told that it is not, whatever was changed', async () => {
    const jws = (await receiptOf('bob', 'application/jose')).toString();
    const [head = '', payload = '', signature = ''] = jws.split('.');
    const body = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forged = [
      [head, encode({ ...body, subject: 'carl' }), signature],
      [head, payload, randomBytes(64).toString('base64url')],
      [encode({ alg: 'none' }), payload, signature],
      [head, encode({ ...body, transaction: 'x'.repeat(22) }), signature],
      [head, encode({ transaction: ['x'] }), signature],
      [head, Buffer.from('null').toString('base64url'), signature],
    ];
    for (const parts of forged)
      expect(await told(Buffer.from(parts.join('.')), 'application/jose')).toEqual({ genuine: false });
    expect(await page(Buffer.from((forged[0] ?? []).join('.')))).toContain('This receipt is not genuine');
  });

  it('is told if a file is no signed receipt', async () => {
    for (const file of ['%PDF-1.7\n/EmbeddedFile stream', '%PDF-1.7', 'hello', ''])
      expect(await page(Buffer.from(file))).toContain('There is no signed receipt in this file');
    expect((await verify(Buffer.from('x'), 'multipart/form-data; boundary=y')).status).toBe(400);
    expect((await verify(Buffer.from('x'), 'text/plain')).status).toBe(415);
    // Each part of a form costs time, and anybody may send one.
    const part = '--y\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
    const form = Buffer.from(`${part.repeat(60_000)}--y--`);
    expect((await verify(form, 'multipart/form-data; boundary=y')).status).toBe(400);
  });

  it('is told of a receipt that was erased that it was genuine', async () => {
    const jws = await receiptOf('dora', 'application/jose');
    const admin = await signIn(instance, 'admin');
    await admin.send('POST', '/subjects/dora/erasure');
    await vi.waitFor(async () => expect((await admin.get('/subjects/dora')).status).toBe(404), {
      timeout: 20_000,
      interval: 50,
    });
    expect(await told(jws, 'application/jose')).toEqual({ genuine: true });
  });
});
