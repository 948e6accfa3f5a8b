import { hash } from 'node:crypto';
import { afterAll, afterEach, expect, it } from 'vitest';
import { type Caller, createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { complete } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';
import { until } from '../support/run/until.ts';

const [server, gateway] = await Promise.all([startMailServer(), startSmsGateway()]);
const instance = useInstance({
  MAIL_URL: server.url,
  SMS_URL: `${gateway.origin}/send`,
});
const shop: Caller = useSetup(() => createKey(instance));
afterAll(() => Promise.all([server.close(), gateway.close()]));
afterEach(() => letTimePass(instance, '0 seconds'));

const invite = (emailAddress: string) =>
  createTransaction(shop, { sendInvitation: true, subjectInfos: { emailAddress } });

/** A value of `accord_messages_age_seconds` or another gauge of messages. */
async function gaugeOf(name: string, kind: 'mail' | 'sms'): Promise<number> {
  const line = new RegExp(`^${name}\\{(?=[^}]*kind="${kind}")[^}]*\\} (\\S+)$`, 'm');
  return Number(line.exec(await instance.metrics())?.[1]);
}

it('mails to forty domains arrive, each from its own queue, and the queues are deleted afterwards', async () => {
  const addresses = Array.from({ length: 40 }, (_, index) => `ann@many${index}.example`);
  await Promise.all(addresses.map(invite));
  await Promise.all(addresses.map((address) => server.waitFor(address)));
  await until(async () =>
    expect(await rowsOf(instance, 'SELECT name FROM transactions.message_queues')).toEqual([]),
  );
});

it('the age of a message counts while the server refuses it and it waits for its next attempt', async () => {
  server.behave('ann@grey.example', { recipient: 451 });
  gateway.reply(429);
  await invite('ann@grey.example');
  const context = { confirmation: 'SMS_CODE', subjectInfos: { phoneNumber: '+33 6 39 98 12 34' } };
  const { id } = await createTransaction(shop, context);
  await shop.send('POST', `/consents/${id}/submit`, complete);
  const attempted = `SELECT FROM transactions.messages WHERE state = 'PENDING' AND attempts > 0`;
  await until(async () => expect(await rowsOf(instance, attempted)).toHaveLength(2));
  const shift = `UPDATE transactions.messages SET created_at = now() - interval '20 minutes',
                        not_before = now() + interval '1 hour' WHERE state = 'PENDING'`;
  // An attempt that was under way writes its own next time.
  await until(async () => {
    await rowsOf(instance, shift);
    for (const kind of ['mail', 'sms'] as const) {
      expect(await gaugeOf('accord_messages_age_seconds', kind)).toBeGreaterThan(900);
      expect(await gaugeOf('accord_deliveries_age_seconds', kind)).toBe(0);
    }
  });
  server.behave('ann@grey.example', {});
  gateway.reply(202);
  await letTimePass(instance, '61 minutes');
  await server.waitFor('ann@grey.example');
  await until(async () => {
    for (const kind of ['mail', 'sms'] as const)
      expect(await gaugeOf('accord_messages_age_seconds', kind)).toBe(0);
  });
});

it('a server that is away is tried with one message at a time, and gets the others when it is back', async () => {
  const address = 'ann@away.example';
  server.behave(address, { recipient: 421 });
  await Promise.all(Array.from({ length: 15 }, () => invite(address)));
  const waiting = `
    SELECT q.failures, (SELECT count(*)::int FROM transactions.messages AS m
                         WHERE m.queue = q.name AND m.attempts = 0) AS untried
      FROM transactions.message_queues AS q WHERE q.failures >= 3 AND q.next_at > now()`;
  await until(async () => {
    const [queue] = await rowsOf<{ failures: number; untried: number }>(instance, waiting);
    // Four attempts at a time before the first failure, then one for each failure of the queue.
    expect(queue?.untried).toBeGreaterThanOrEqual(12 - (queue?.failures ?? 0));
  });
  server.behave(address, {});
  await rowsOf(instance, 'UPDATE transactions.message_queues SET next_at = now()');
  await letTimePass(instance, '1 minute');
  await server.waitFor(address, 15);
  expect(new Set(server.to(address).map(({ mail }) => mail.messageId)).size).toBe(15);
  expect(server.to(address)).toHaveLength(15);
});

it('a silent domain does not delay a domain whose plain hash has the same remainder', async () => {
  const bucketOf = (domain: string) => hash('sha256', domain, 'buffer').readUInt32BE() % 1024;
  let index = 0;
  while (bucketOf(`d${index}.example`) !== bucketOf('silent.example')) index += 1;
  server.behave('ann@silent.example', { isSilent: true });
  await Promise.all(Array.from({ length: 8 }, () => invite('ann@silent.example')));
  await invite(`ann@d${index}.example`);
  await server.waitFor(`ann@d${index}.example`);
  expect(server.to('ann@silent.example')).toEqual([]);
});
