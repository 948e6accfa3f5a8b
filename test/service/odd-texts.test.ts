import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));

const marks = (count: number) => `a${'\u0301\u0316'.repeat(count / 2)}`;

describe('a text with more than 30 combining marks in a row', () => {
  it.each<[string, (text: string) => Promise<Response>]>([
    ['the subject', (text) => admin.send('POST', '/consents', { subject: text, layout: 'layout.001' })],
    ['the name of a key', (text) => admin.send('POST', '/keys', { name: text, scope: 'OWNER' })],
    ['the name of a member', (text) => admin.send('POST', '/consents', { subject: 'a', [text]: 'a' })],
    ['a filter', (text) => admin.get(`/transactions?subject=${encodeURIComponent(text)}`)],
    ['the name of a subject', (text) => admin.send('POST', '/subjects', { name: text })],
  ])('is rejected as %s', async (_where, send) => {
    const response = await send(marks(32));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('has more than 30 combining marks in a row');
    expect((await send(marks(30))).status).not.toBe(400);
  });

  it('matches no resource in a path', async () => {
    expect((await admin.get(`/subjects/${encodeURIComponent(marks(32))}`)).status).toBe(404);
  });

  it('is rejected as an answer, a comment and the name of an answer, in JSON and in a form', async () => {
    const { id, token } = await createTransaction(admin);
    const letter = 'element/processing/processing.001/1.0';
    for (const answers of [
      { [letter]: [marks(32)] },
      { comment: marks(32) },
      { [marks(32)]: ['accepted'] },
    ]) {
      const path = `/consents/${id}/submit?t=${token}`;
      expect((await admin.send('POST', path, answers)).status).toBe(400);
      const body = new URLSearchParams();
      for (const [name, value] of Object.entries(answers)) body.set(name, String(value));
      expect((await instance.fetch(path, { method: 'POST', body })).status).toBe(400);
    }
  });

  it('is rejected as username and password', async () => {
    for (const [username, password] of [
      [marks(9_000), 'demo'],
      ['admin', marks(9_000)],
      [`admin${marks(32)}`, 'demo'],
    ] as const) {
      const body = new URLSearchParams({ client_id: 'cmclient', grant_type: 'password', username, password });
      const response = await fetch(`${instance.url}/auth`, { method: 'POST', body });
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'invalid_grant' }),
      ]);
    }
  });
});

describe('a language tag of more than 35 characters', () => {
  const long = `en-u-${Array.from({ length: 10 }, (_, index) => `v${10_000 + index}`).join('-')}`;
  it.each<[string, () => Promise<Response>]>([
    ['a form', () => admin.send('POST', '/consents', { subject: 'a', layout: 'layout.001', language: long })],
    ['a subject', () => admin.send('POST', '/subjects', { name: 'somebody', defaultLanguage: long })],
    [
      'content',
      async () => {
        const theme = await admin.send('POST', '/models', { type: 'theme', name: 'A theme' });
        const { id } = (await theme.json()) as { id: string };
        const data = { [long]: sampleContent.theme };
        return admin.send('POST', `/models/${id}/versions`, { defaultLanguage: long, data });
      },
    ],
  ])('is rejected for %s', async (_what, send) => {
    const response = await send();
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('must be a BCP 47 language tag');
  });
});

describe('a duration', () => {
  const timeoutOf = async (timeout: string) => {
    const response = await admin.send('POST', '/consents', {
      subject: `subject-${crypto.randomUUID()}`,
      layout: 'layout.001',
      timeout,
    });
    if (response.status !== 201) return response.status;
    const { id } = (await response.json()) as { id: string };
    const [row] = await rowsOf<{ timeout: string }>(
      instance,
      `SELECT t.context->>'timeout' AS timeout FROM transactions.transactions AS t WHERE t.id = $1`,
      [id],
    );
    return row?.timeout;
  };

  it.each([
    ['+P1D', 'P1D'],
    ['p1d', 'P1D'],
    ['P1DT0,5S', 'P1DT0.5S'],
    ['+p1dt0,5s', 'P1DT0.5S'],
    ['PT1.5H', 'PT1H30M'],
    ['P0Y1D', 'P1D'],
    ['P01W', 'P1W'],
    ['PT36H', 'PT36H'],
    ['P1W2DT3H4M5.6S', 'P1W2DT3H4M5.6S'],
    ['P1M2W', 'P1M2W'],
  ])('written as %s is stored as %s', async (given, stored) => {
    expect(await timeoutOf(given)).toBe(stored);
  });

  it('is compared in its canonical form, so that equal contexts find the same transaction', async () => {
    const context = { subject: `subject-${crypto.randomUUID()}`, layout: 'layout.001' };
    const first = await createTransaction(admin, { ...context, timeout: 'P1D', validity: 'P6M' });
    const again = await admin.send('POST', '/consents', { ...context, timeout: '+p1d', validity: 'p6m' });
    expect(await again.json()).toMatchObject({ id: first.id });
  });

  it('is either accepted or rejected, for any text', async () => {
    const number = fc.oneof(
      fc.nat(40).map(String),
      fc.constantFrom('0,5', '1.000000001', '00', '99999999999'),
    );
    const parts = (units: string) =>
      fc
        .subarray([...units])
        .chain((chosen) =>
          fc
            .array(number, { minLength: chosen.length, maxLength: chosen.length })
            .map((numbers) => chosen.map((unit, index) => `${numbers[index]}${unit}`).join('')),
        );
    const duration = fc
      .tuple(fc.constantFrom('', '+', '-', ' '), parts('YMWD'), parts('HMS'), fc.boolean())
      .map(([sign, date, time, small]) => {
        const text = `${sign}P${date}${time && `T${time}`}`;
        return small ? text.toLowerCase() : text;
      });
    await fc.assert(
      fc.asyncProperty(duration, async (timeout) => {
        // The contract check fails on a 500.
        const stored = await timeoutOf(timeout);
        if (typeof stored === 'number') expect(stored).toBe(422);
        else expect(stored).toMatch(/^P[\dYMWDTHS.]+$/);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

describe('the base URL of a peer', () => {
  it.each([
    'https://x"y.example',
    'https://x;y',
    'https://x,y',
    "https://x'y",
    'https://*.example',
    'https://x$y',
    'https://x(y)',
    'https://x=y',
    'https://x!y',
  ])('is not %s', async (url) => {
    const { key } = await createKey(instance, 'partner', 'PEER');
    const response = await admin.send('POST', '/peers', { url, apiKey: key });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('must contain a valid host name');
  });
});

describe('a fault', () => {
  it('has its pointer even with a line break', async () => {
    const made = await admin.send('POST', '/models', { type: 'theme', name: 'A theme' });
    const { id } = (await made.json()) as { id: string };
    const data = { 'a\nb': sampleContent.theme };
    // The response is checked against the contract.
    const response = await admin.send('POST', `/models/${id}/versions`, { defaultLanguage: 'a\nb', data });
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: { pointer: string }[] };
    expect(errors).toContainEqual(expect.objectContaining({ pointer: '/data/a\nb' }));
  });
});
