import { createHash, randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';
import { startTraceCollector } from '../support/network/trace-collector.ts';
import { patience } from '../support/run/patience.ts';
import { openDatabase } from './canaries/broken-database.ts';
import { createCanaries } from './canaries/canaries.ts';
import {
  type MessageWalk,
  meetComplaints,
  meetPoison,
  meetRefusals,
  walkWithCodes,
  walkWithMails,
} from './canaries/message-flows.ts';
import { createRecorder } from './canaries/recorder.ts';

const [mails, gateway, collector] = await Promise.all([
  startMailServer(),
  startSmsGateway(),
  startTraceCollector(),
]);
const canaries = createCanaries();
const address = (name: string) => `${canaries.plant(name)}@mail.example`;
/** French numbers for films. */
const telephone = (name: string) => {
  const number = `3363998${randomInt(1000, 10_000)}`;
  canaries.keepSecret(name, number.slice(2));
  return `+${number}`;
};
const people = {
  codes: [address('address for codes'), telephone('telephone for codes')] as const,
  mails: [address('address for mails'), telephone('telephone for an invitation')] as const,
  refused: [address('address that is refused'), telephone('telephone that is refused')] as const,
  complaint: address('address that is not stored'),
  poison: address('address of dead letters'),
};

let instance: TestInstance;
let walk: MessageWalk;
let events: string;
let metrics: string;
/** The rows of each table. */
let tables: Map<string, string>;

/** All rows of all tables of the services, without fractions of seconds, which are six digits. */
async function readTables(): Promise<Map<string, string>> {
  const names = await rowsOf<{ name: string }>(
    instance,
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'kept')`,
  );
  const read = new Map<string, string>();
  for (const { name } of names) {
    const rows = await rowsOf<{ row: string }>(instance, `SELECT t::text AS row FROM ${name} AS t`);
    read.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return read;
}

beforeAll(async () => {
  instance = await startTestInstance({
    MAIL_URL: mails.url,
    SMS_URL: `${gateway.origin}/send`,
    SMS_FROM: 'Riverside',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  });
  const database = await openDatabase(instance.databaseUrl);
  await database.copyEvents();
  const recorder = createRecorder(instance.url, { strict: false });
  const shop = await createKey({ url: instance.url, fetch: recorder.fetch });
  await shop.send('POST', '/webhooks', {
    name: 'messages',
    targetUrl: 'http://127.0.0.1:9/',
    subscribedActions: ['message.sent', 'message.failed'],
  });
  walk = { recorder, shop, databaseUrl: instance.databaseUrl, mails, gateway, codes: [], digests: [] };
  await walkWithCodes(walk, ...people.codes);
  await walkWithMails(walk, ...people.mails);
  await meetRefusals(walk, ...people.refused);
  await meetComplaints(walk, people.complaint);
  await meetPoison(walk, people.poison);
  events = await database.events();
  await database.end();
  tables = await readTables();
  metrics = await instance.metrics();
}, 120_000);
afterAll(async () => {
  await instance?.stop();
  await Promise.all([mails.close(), gateway.close(), collector.close()]);
});

const without = (text: string, fractions: RegExp) => text.replaceAll(fractions, '');
/** Codes stand in mails as six digits, and on pages as two groups. */
const codesIn = (text: string, codes = walk.codes) =>
  codes.filter((code) => {
    const grouped = `${code.slice(0, 3)}(?:\\s|&nbsp;)?${code.slice(3)}`;
    return new RegExp(`(?<![0-9a-z#.])${grouped}(?![0-9a-z])`, 'i').test(text);
  });
/** Digests that are stored, and those that anybody could make. */
const digestsIn = (text: string, stored = walk.digests) => {
  const values = [...walk.codes, ...Object.values(people).flat()];
  const made = ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) =>
    values.map((value) => createHash(name).update(value).digest('hex')),
  );
  return [...stored, ...made].filter((hex) => {
    const bytes = Buffer.from(hex, 'hex');
    const forms = [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
    return text.toLowerCase().includes(hex) || forms.some((form) => text.includes(form));
  });
};
const expectNothingIn = (text: string, what?: string) =>
  expect({ names: canaries.findIn(text), codes: codesIn(text), digests: digestsIn(text) }, what).toEqual({
    names: [],
    codes: [],
    digests: [],
  });

const seen = () => walk.recorder.seen;
const pages = () => seen().filter(({ type }) => type.startsWith('text/html'));

describe('codes, their digests, addresses and telephone numbers', () => {
  it('are on their way, and every sink is searched', () => {
    const [formCode = ''] = walk.codes;
    const confirmPages = pages().filter(({ request }) => request.endsWith('/confirm'));
    expect(confirmPages.some(({ body }) => codesIn(body, [formCode]).length > 0)).toBe(true);
    expect(walk.codes).toHaveLength(3);
    expect(walk.digests.length).toBeGreaterThan(4);
    const sent = JSON.stringify([mails.received.map(({ raw }) => raw), gateway.requests]);
    expect(canaries.findIn(sent)).toEqual([
      'address for codes',
      'telephone for codes',
      'address for mails',
      'telephone for an invitation',
      'telephone that is refused',
      'address of dead letters',
    ]);
    expect(codesIn(sent.replaceAll('\\n', '\n'))).toEqual(walk.codes.slice(1));
    expect(tables.get('transactions.messages')?.match(/FAILED/g)).toHaveLength(2);
    expect(digestsIn(tables.get('transactions.codes') ?? '')).not.toEqual([]);
    for (const fact of ['"code":"P0001"', 'message not sent', 'stored it as a dead letter'])
      expect(instance.logs().includes(fact), fact).toBe(true);
    expect(events).toContain('message.failed');
    expect(metrics).toContain('accord_dead_letters{');
  });

  it('are in no log', () => {
    expectNothingIn(without(instance.logs(), /\.\d+/g));
  });

  it('are in no event', () => {
    expectNothingIn(without(events, /\.\d+/g));
  });

  it('are in no metric', () => {
    expectNothingIn(without(metrics, / \S+$/gm));
  });

  it('are in no trace', async () => {
    const spans = (name: string) => collector.spans().filter((span) => span.name === name);
    // The export lags behind. Spans arrive in the order in which they ended.
    const creations = seen().filter(({ request }) => request === 'POST /consents');
    await vi.waitFor(() => expect(spans('POST /consents')).toHaveLength(creations.length), patience);
    for (const name of ['POST /consents/{txid}/confirm', 'POST /consents/{txid}/invitation'])
      expect(spans(name), name).not.toEqual([]);
    expect(spans('POST /consents/{txid}/submit').filter(({ failed }) => failed)).toHaveLength(2);
    for (const name of ['deliver mail', 'deliver sms']) expect(spans(name).length, name).toBeGreaterThan(1);
    expectNothingIn(collector.bytes());
  });

  it('are in no URL', () => {
    const ofClients = seen().flatMap(({ request, headers, body }) => [
      request,
      ...headers.split('\n').filter((header) => /^(location|link|content-location):/.test(header)),
      ...(body.match(/(?<=(?:href|src|action)=")[^"]*|https?:\/\/[^\s"<>]+/g) ?? []),
    ]);
    const ofMessages = mails.received.flatMap(({ mail }) => mail.text?.match(/https?:\/\/\S+/g) ?? []);
    const all = [...ofClients, ...ofMessages, ...gateway.requests.map(({ path }) => path)];
    expect(all.length).toBeGreaterThan(100);
    expectNothingIn(all.join('\n'));
  });

  it('are on no page, except for the code that the page itself shows', () => {
    const [formCode = ''] = walk.codes;
    expect(pages().length).toBeGreaterThan(10);
    for (const { request, body } of pages()) {
      expect([canaries.findIn(body), digestsIn(body)], request).toEqual([[], []]);
      const shown = codesIn(body);
      expect(request.endsWith('/confirm') ? shown.filter((code) => code !== formCode) : shown).toEqual([]);
    }
  });

  it('are in the database in clear only as contact data: in the context, the receipt and the subject', () => {
    const withNames = [...tables].filter(([, rows]) => canaries.findIn(rows).length > 0);
    expect(withNames.map(([name]) => name).sort()).toEqual([
      'transactions.receipt_drafts',
      'transactions.receipts',
      'transactions.subjects',
      'transactions.transactions',
    ]);
    for (const [name, rows] of tables) {
      expect(codesIn(without(rows, /\.\d{1,6}/g)), name).toEqual([]);
      const stored = ['transactions.codes', 'transactions.messages'].includes(name);
      expect(digestsIn(rows, stored ? [] : walk.digests), name).toEqual([]);
    }
  });

  it('are in no dead letter', () => {
    const letters = tables.get('transactions.dead_letters') ?? '';
    expect(letters.split('\n').length).toBeGreaterThan(1);
    expectNothingIn(without(letters, /\.\d+/g));
  });
});
