import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
let operator: ConsolePages;
let caller: Caller;
beforeAll(async () => {
  operator = await openPages(instance, 'operator');
  caller = await signIn(instance, 'operator');
});
afterAll(() => operator?.close());

const here = '/console/receipts';
/** @returns the id of a committed transaction, and its signed receipt. */
async function commit(subject: string): Promise<{ id: string; jws: string }> {
  const context = { subject, layoutData: { elements: ['processing.001'] } };
  const values = { 'element/processing/processing.001/1.0': ['accepted'] };
  const response = await caller.send('POST', '/consents/singlestep', { context, values });
  const { id } = (await response.json()) as { id: string };
  return { id, jws: await (await caller.get(`/receipts/${id}?format=jose`)).text() };
}
const verify = async (jws: string, keys = '') => (await operator.post(here, { jws, keys })).text();

describe('receipts in the console', () => {
  it('are found by the id of their transaction, and open in each format', async () => {
    const { id } = await commit('ann');
    const html = await (await operator.get(`${here}?transaction=${id}`)).text();
    expect(html).toContain('ann');
    const shown = /<iframe[^>]* src="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(await (await operator.get(shown)).text()).toContain('The programme letter');
    const link = /href="([^"]+format=text)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(await (await operator.get(link)).text()).toContain('Consent receipt');
    const none = await (await operator.get(`${here}?transaction=nothing`)).text();
    expect(none).toContain('There is no receipt with this number.');
  });

  it('that somebody shows are genuine if this instance has signed them and has them on record', async () => {
    const { jws } = await commit('bert');
    const verdict = await verify(`\n${jws.slice(0, 70)}\n${jws.slice(70)} `);
    expect(verdict).toContain('it is the one on record');
    expect(verdict).toMatch(/The programme letter[\s\S]*Accepted[\s\S]*It counts now\./);
    expect(verdict).toMatch(/Verified on \d[^<]* by operator\./);
    expect(verdict).toContain(createHash('sha256').update(jws).digest('hex'));
    await caller.send('POST', '/choices/withdraw', { subject: 'bert' });
    expect(await verify(jws)).toContain('It does not count any more: There is a newer answer.');
  });

  it('are genuine for an auditor, too, who gets no file with the link of the person', async () => {
    const { id, jws } = await commit('berta');
    const auditor = await openPages(instance, 'auditor');
    expect(await (await auditor.post(here, { jws, keys: '' })).text()).toContain('it is the one on record');
    const html = await (await auditor.get(`${here}?transaction=${id}`)).text();
    expect(html).not.toMatch(/format=(pdf|jose)/);
    const refused = await auditor.get(`${here}?transaction=${id}&format=jose`);
    expect(refused.status).toBe(406);
    expect(await refused.text()).toContain('Your role does not get it in this format. Choose another one.');
    const { headers } = await signIn(instance, 'auditor');
    const byApi = await instance.fetch(`/receipts/${id}`, {
      headers: { ...headers, Accept: 'application/jose' },
    });
    expect(((await byApi.json()) as { detail: string }).detail).toContain('`signature` of the JSON');
    expect(html).toContain('Whether a receipt that somebody shows you is genuine');
    await auditor.close();
  });

  it('are proved to an auditor by their number: their digest is the one in the log', async () => {
    const { id, jws } = await commit('bruno');
    const auditor = await openPages(instance, 'auditor');
    // The log has the line some seconds after the commit.
    const html = await until(async () => {
      const shown = await (await auditor.get(`${here}?transaction=${id}`)).text();
      expect(shown).toContain('when it was signed, and it is still the same');
      return shown;
    });
    expect(html).toContain(createHash('sha256').update(jws).digest('hex'));
    const log = /href="(\/console\/audit\?[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(await (await auditor.get(log)).text()).toContain('Answered, receipt signed');
    expect(await (await operator.get(`${here}?transaction=${id}`)).text()).not.toContain('The audit log');
    // Another signed receipt is put in its place, in the database.
    const other = await commit('bruno-later');
    const texts = [id, other.jws, JSON.stringify({ consents: [] })];
    await runInDatabase(
      instance,
      'UPDATE transactions.receipts SET jws = $2, body = $3 WHERE transaction = $1',
      texts,
    );
    const replaced = await (await auditor.get(`${here}?transaction=${id}`)).text();
    expect(replaced).toContain('The audit log recorded another digest');
    expect(replaced).toContain('bruno-later');
    await auditor.close();
  });

  it('are verified by the PDF that a person has', async () => {
    const { id } = await commit('bella');
    const caller = await signIn(instance, 'operator');
    // A PDF may be refused while the machine is busy.
    const made = async () => {
      const answer = await caller.get(`/receipts/${id}?format=pdf`);
      expect(answer.status).toBe(200);
      return answer.arrayBuffer();
    };
    const pdf = await vi.waitFor(made, { timeout: 60_000, interval: 1_000 });
    const upload = async (bytes: string | Uint8Array<ArrayBuffer>) => {
      const file = new File([bytes], 'receipt.pdf', { type: 'application/pdf' });
      return (await operator.upload(here, { jws: '', file })).text();
    };
    expect(await upload(new Uint8Array(pdf))).toContain('it is the one on record');
    expect(await upload('%PDF-1.7')).toContain('The file has no signed receipt.');
  });

  it('that are not on record any more are told from those that are', async () => {
    const { id, jws } = await commit('zoe');
    const admin = await signIn(instance, 'admin');
    expect((await admin.send('POST', '/subjects/zoe/erasure', {})).ok).toBe(true);
    await vi.waitFor(async () => expect((await caller.get(`/receipts/${id}`)).ok).toBe(false), 10_000);
    const verdict = await verify(jws);
    expect(verdict).toContain('The receipt is genuine, but not on record');
    expect(verdict).toContain('state-needs-you');
    expect(verdict).not.toContain(`/console/transactions/${id}`);
  });

  it('that were changed in one character are told', async () => {
    const { jws } = await commit('carla');
    const [header, payload = '', signature] = jws.split('.');
    const body = Buffer.from(payload, 'base64url').toString().replace('accepted', 'refused');
    const forged = [header, Buffer.from(body).toString('base64url'), signature].join('.');
    expect(await verify(forged)).toContain('The receipt was changed');
  });

  it('are not genuine because they bring a key or ask for another algorithm', async () => {
    const { jws } = await commit('dora');
    const [header = '', payload, signature] = jws.split('.');
    const protectedHeader = JSON.parse(Buffer.from(header, 'base64url').toString());
    const withHeader = (more: object) =>
      [
        Buffer.from(JSON.stringify({ ...protectedHeader, ...more })).toString('base64url'),
        payload,
        signature,
      ].join('.');
    expect(await verify(withHeader({ alg: 'none' }))).toContain('This is no signed receipt');
    expect(await verify(withHeader({ jku: 'https://evil.example/keys' }))).toContain(
      'The receipt was changed',
    );
    expect(await verify(withHeader({ kid: 'unknown' }))).toContain('Nobody known here has signed it');
    for (const text of ['hello', 'a.b.c', '💥'.repeat(3)])
      expect(await verify(text)).toContain('This is no signed receipt');
  });

  it('need a text to be verified', async () => {
    const response = await operator.post(here, { jws: ' ' });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('role="alert"');
  });

  it.each(['en', 'fr', 'ar'])('have all their words in %s', async (language) => {
    const { id } = await commit('words');
    for (const path of [here, `${here}?transaction=${id}`]) {
      const html = await (await operator.get(path, { 'Accept-Language': language })).text();
      expect(html).not.toMatch(/>(receipts|verify|verified)\.[a-zA-Z.-]+</);
    }
  });
});
