import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { startMailServer } from '../support/network/mail-server.ts';
import { until } from '../support/run/until.ts';

const server = await startMailServer();
afterAll(() => server.close());

/** An instance with the limits of the product, behind a proxy that names the network, which knows people. */
async function start(...names: string[]): Promise<TestInstance> {
  const instance = await startTestInstance({
    MAIL_URL: server.url,
    MAIL_FROM: 'consent@riverside.example',
    RATE_LIMITS: 'user=300',
    TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
  });
  onTestFinished(() => instance.stop());
  const shop = await createKey(instance);
  for (const name of names) {
    const subjectInfos = { emailAddress: `${name}@example.org` };
    await recordAnswers(shop, name, { [letter]: ['accepted'] }, { subjectInfos });
  }
  return instance;
}

/** Asks for a link. @returns all that the response says. */
async function ask(instance: TestInstance, name: string, network: string) {
  const response = await instance.fetch('/choices/link', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', 'X-Forwarded-For': network },
    body: JSON.stringify({ address: `${name}@example.org` }),
  });
  const headers = [...response.headers].filter(([field]) => !['date', 'x-request-id'].includes(field));
  return { status: response.status, headers, body: await response.text() };
}

/** Waits until every request has been looked up. @returns how many mails were made. */
async function mailsOf(instance: TestInstance): Promise<number> {
  await until(async () =>
    expect(await rowsOf(instance, 'SELECT FROM transactions.choices_requests')).toEqual([]),
  );
  return (await rowsOf(instance, "SELECT FROM transactions.messages WHERE kind = 'choices'")).length;
}

it('a network gets ten links in a minute, and the same response beyond', async () => {
  const instance = await start('ann', 'bob');
  const first = await ask(instance, 'ann', '203.0.113.1');
  expect(first).toMatchObject({ status: 202, body: '{"minutes":30}' });
  for (let count = 0; count < 8; count += 1)
    expect(await ask(instance, `nobody-${count}`, '203.0.113.1')).toEqual(first);
  expect(await ask(instance, 'ann', '203.0.113.1')).toEqual(first);
  expect(await mailsOf(instance)).toBe(2);
  expect(await ask(instance, 'ann', '203.0.113.1')).toEqual(first);
  expect(await mailsOf(instance)).toBe(2);
  expect(await ask(instance, 'bob', '203.0.113.2')).toEqual(first);
  expect(await mailsOf(instance)).toBe(3);
});

it('all networks together get sixty links in a minute, and the same response beyond', async () => {
  const instance = await start('ann', 'bob');
  const first = await ask(instance, 'nobody', '203.0.113.1');
  for (let network = 2; network < 60; network += 1)
    expect(await ask(instance, 'nobody', `203.0.113.${network}`)).toEqual(first);
  expect(await ask(instance, 'ann', '203.0.113.60')).toEqual(first);
  expect(await mailsOf(instance)).toBe(1);
  expect(await ask(instance, 'bob', '203.0.113.61')).toEqual(first);
  expect(await mailsOf(instance)).toBe(1);
});
