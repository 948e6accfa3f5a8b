import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import { actionOf, isAction, namesOf } from '../../services/webhooks/domain/actions.ts';
import { drawSecret, writeMessage } from '../../services/webhooks/domain/message.ts';
import { webhookBackoff } from '../../services/webhooks/jobs/webhook-deliveries.ts';

const event = {
  id: '5b0c1f0e-7a43-4f0d-9d55-0f8f2f1d7c11',
  type: 'io.accord.consent.committed.v1',
  source: 'https://consent.example.org',
  subject: '7Zk3pQxWm4tYv9LsRb2NcD',
  time: '2026-03-14T09:26:53.120Z',
  data: { transaction: '7Zk3pQxWm4tYv9LsRb2NcD', state: 'COMMITTED', version: 2 },
  requestid: 'checkout-4711',
};
const now = () => Math.floor(Date.now() / 1000);

describe('a webhook message', () => {
  const secret = drawSecret();
  const write = (options = {}) =>
    writeMessage(event, { id: 'a-1', sentAt: now(), secrets: [secret], ...options });
  const textOf = ({ body }: { body: Uint8Array }) => new TextDecoder().decode(body);
  const verify = (message: ReturnType<typeof write>, by = secret) =>
    new Webhook(by).verify(textOf(message), message.headers);

  it('holds the whole event and a signature that the reference library accepts', () => {
    expect(verify(write())).toEqual({ specversion: '1.0', datacontenttype: 'application/json', ...event });
  });

  it('is rejected with another body, id, time or secret', () => {
    const message = write();
    const refused = (change: () => unknown) => expect(change).toThrow(WebhookVerificationError);
    refused(() => new Webhook(secret).verify(`${textOf(message)} `, message.headers));
    refused(() => new Webhook(secret).verify(textOf(message), { ...message.headers, 'webhook-id': 'a-2' }));
    refused(() =>
      new Webhook(secret).verify(textOf(message), {
        ...message.headers,
        'webhook-timestamp': String(now() - 60),
      }),
    );
    refused(() => verify(message, drawSecret()));
  });

  it('is too old after five minutes, so each attempt gets a new signature', () => {
    expect(() => verify(write({ sentAt: now() - 301 }))).toThrow('too old');
    expect(textOf(write({ sentAt: now() - 301 }))).toBe(textOf(write()));
  });

  it('is signed with both secrets during a change of the secret', () => {
    const next = drawSecret();
    const message = write({ secrets: [next, secret] });
    expect(message.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    expect(verify(message)).toEqual(verify(message, next));
  });
});

describe('the back-off of a delivery', () => {
  const waits = (random: number) =>
    Array.from({ length: 8 }, (_, index) => (webhookBackoff(index + 1, random) as number) / 1000);

  it('grows from seconds to half a day and lasts about a day in total', () => {
    expect(waits(0)).toEqual([5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200]);
    expect(webhookBackoff(9, 0)).toBeUndefined();
  });

  it('has a jitter of up to a tenth', () => {
    const longest = waits(0.999);
    waits(0).forEach((wait, index) => {
      expect(longest[index]).toBeGreaterThan(wait * 1.09);
      expect(longest[index]).toBeLessThanOrEqual(wait * 1.1);
    });
  });
});

describe('the secret of a webhook', () => {
  const [first, second] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];

  it('opens with any sealing key, for its own webhook only', () => {
    const secret = drawSecret();
    const sealed = createSecretBox([first], 'test').seal('webhook-1', secret);
    expect(createSecretBox([second, first], 'test').open('webhook-1', sealed)).toBe(secret);
    expect(() => createSecretBox([second], 'test').open('webhook-1', sealed)).toThrow('No key opens');
    expect(() => createSecretBox([first], 'test').open('webhook-2', sealed)).toThrow('No key opens');
    sealed[sealed.length - 1] = (sealed.at(-1) as number) ^ 1;
    expect(() => createSecretBox([first], 'test').open('webhook-1', sealed)).toThrow('No key opens');
  });

  it('is sealed differently each time', () => {
    const box = createSecretBox([first], 'test');
    expect(box.seal('webhook-1', 'the same').equals(box.seal('webhook-1', 'the same'))).toBe(false);
  });
});

describe('an action', () => {
  it('has the name of its event, and CONSENT_COMMIT as an alias', () => {
    expect(actionOf('io.accord.consent.committed.v1')).toBe('consent.committed');
    expect(actionOf('io.accord.peer.submission.accepted.v1')).toBe('peer.submission.accepted');
    expect(namesOf('consent.committed')).toEqual(['consent.committed', 'CONSENT_COMMIT']);
    expect(namesOf('key.created')).toEqual(['key.created']);
    expect(['CONSENT_COMMIT', 'consent.committed', 'CONSENT_CREATE', 'toString'].map(isAction)).toEqual([
      ...[true, true, false, false],
    ]);
  });
});
