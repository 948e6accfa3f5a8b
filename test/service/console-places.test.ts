import { expect, it, onTestFinished } from 'vitest';
import { signInToConsole } from '../support/console/console-person.ts';
import { useInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { openRaw } from '../support/network/raw-request.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const slowForm = (cookie: string, sent = 'a=1') =>
  [
    'POST /console/elements/x HTTP/1.1',
    `Host: ${new URL(instance.url).host}`,
    `Cookie: ${cookie}`,
    'Sec-Fetch-Site: same-origin',
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Length: 100000',
    '',
    sent,
  ].join('\r\n');

/** Opens connections that send the beginning of a form, and nothing more. */
function sendSlowly(count: number, cookieOf: (number: number) => string) {
  const sockets = Array.from({ length: count }, (_, number) =>
    openRaw(instance.url, slowForm(cookieOf(number))),
  );
  for (const socket of sockets) onTestFinished(() => void socket.destroy());
  return sockets;
}

it('strangers who send forms slowly, each with another cookie, hold up nobody', async () => {
  const person = await signInToConsole(instance.url, 'operator');
  const slow = sendSlowly(
    64,
    (number) => `accord_console_${new URL(instance.url).port}=${String(number).padStart(43, 'x')}`,
  );
  await until(() => expect(slow.every(({ bytesWritten }) => bytesWritten > 0)).toBe(true));
  // After the first page, all of them have been read as far as they have come.
  for (let times = 0; times < 3; times += 1)
    expect((await person.open('/console/receipts')).status).toBe(200);
  expect(slow.filter(({ closed }) => closed)).toHaveLength(0);
});

it('a person who sends forms slowly waits for them no more than others do', async () => {
  const person = await signInToConsole(instance.url, 'operator');
  const other = await signInToConsole(instance.url, 'admin');
  const cookie = (person.browser.cookies().find((raw) => /^accord_console_\d+=/.test(raw)) ?? '').split(
    ';',
    1,
  )[0] as string;
  const slow = sendSlowly(32, () => cookie);
  await until(() => expect(slow.every(({ bytesWritten }) => bytesWritten > 0)).toBe(true));
  for (const each of [other, person, other, person])
    expect((await each.open('/console/receipts')).status).toBe(200);
  // They are still being sent.
  expect(slow.filter(({ closed }) => closed)).toHaveLength(0);
});

it('a session that has ended keeps only the newest forms that are sent with it', async () => {
  const person = await signInToConsole(instance.url, 'user', { path: '/console/settings/you' });
  await rowsOf(instance, `UPDATE console.sessions SET used_at = used_at - interval '31 minutes'`);
  for (let number = 0; number < 30; number += 1)
    await person.browser.fetch(`${instance.url}/console/settings/you`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ number: String(number) }),
    });
  const [kept] = await rowsOf<{ n: number }>(
    instance,
    `SELECT count(*)::int AS n FROM console.kept_posts WHERE person LIKE '%demo-user'`,
  );
  expect(kept).toEqual({ n: 20 });
});

it('a person has at most fifty sessions, and the longest unused ends first', async () => {
  const person = await signInToConsole(instance.url, 'operator');
  await rowsOf(
    instance,
    `INSERT INTO console.sessions (id, person, sealed, renew_at, used_at)
     SELECT sha256(n::text::bytea), s.person, '', now(), now() - n * interval '1 second'
       FROM generate_series(1, 80) AS n, (SELECT person FROM console.sessions LIMIT 1) AS s`,
  );
  await rowsOf(
    instance,
    `UPDATE console.sessions SET person = (SELECT person FROM console.sessions WHERE person LIKE '%demo-operator' LIMIT 1)`,
  );
  const again = await signInToConsole(instance.url, 'operator');
  const [left] = await rowsOf<{ n: number }>(
    instance,
    `SELECT count(*)::int AS n FROM console.sessions WHERE person LIKE '%demo-operator'`,
  );
  expect(left).toEqual({ n: 50 });
  expect((await again.open('/console/receipts')).path).toBe('/console/receipts');
  expect((await person.open('/console/receipts')).path).toBe('/console/receipts');
});
