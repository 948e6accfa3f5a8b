import { describe, expect, it } from 'vitest';
import { patient, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { problemOf } from '../support/instances/live-subject.ts';

const instance = useInstance({ RATE_LIMITS: 'off' });
const admin = useSetup(async () => patient(await signIn(instance, 'admin')));

/** Names of those who act or receive data, by the operation that gives them. */
const given: Record<string, { path: string; pointer: string; body: (name: string) => object }> = {
  'an account': { path: '/accounts', pointer: '/name', body: (name) => ({ name, role: 'user' }) },
  'an API key': { path: '/keys', pointer: '/name', body: (name) => ({ name, scope: 'OWNER' }) },
  'a webhook': {
    path: '/webhooks',
    pointer: '/name',
    body: (name) => ({ name, targetUrl: 'https://example.org/', subscribedActions: ['consent.committed'] }),
  },
  'a recipient': {
    path: '/webhooks',
    pointer: '/recipient',
    body: (recipient) => ({
      recipient,
      targetUrl: 'https://example.org/',
      subscribedActions: ['consent.committed'],
    }),
  },
};

/** Each hides a part of the name, breaks the line in which it stands, or turns the text around it. */
const hostile = [
  ...['\u0007', '\n', '\r\n', '\t', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029'],
  ...['\u200e', '\u200f', '\u061c', '\u202a', '\u202b', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068'],
].map((character) => `Clinic${character}gnp.exe`);
const empty = ['\u200b', '\u2800', '\u3164', '\u00ad\u200d', ' \ufeff '];

describe.each(Object.entries(given))('the name of %s', (_what, { path, pointer, body }) => {
  const answerTo = async (name: string) => admin.send('POST', path, body(name));

  it.each(hostile)('is not %j', async (name) => {
    expect(await problemOf(await answerTo(name))).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer }],
    });
  });

  it.each(empty)('is not only %j', async (name) => {
    const { status } = await answerTo(name);
    // A recipient without anything to see is none.
    expect(status).toBe(pointer === '/recipient' ? 201 : 422);
  });

  it.each(['Zoë’s клиника', '診療所 2', 'עברית', 'O’Brien & Sons (north), “2”', '__proto__', '👩‍⚕️ team'])(
    'may be %j',
    async (name) => {
      expect((await answerTo(name)).status).toBe(201);
    },
  );
});
