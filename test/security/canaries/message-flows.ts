import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import type { Caller } from '../../support/instances/callers.ts';
import { rowsOf } from '../../support/instances/live-database.ts';
import { complete } from '../../support/instances/live-subject.ts';
import type { MailServer } from '../../support/network/mail-server.ts';
import type { SmsGateway } from '../../support/network/sms-gateway.ts';
import type { Recorder } from './recorder.ts';

/** Who is sent messages, and what they carry. */
export interface MessageWalk {
  recorder: Recorder;
  /** A server with an API key. */
  shop: Caller;
  databaseUrl: string;
  mails: MailServer;
  gateway: SmsGateway;
  /** Codes that subjects have got. */
  codes: string[];
  /** Digests of codes and addresses, as they are stored: in hexadecimal. */
  digests: string[];
}

interface Made {
  id: string;
  token: string;
}

/** How a browser sees a transaction. */
function browserOf({ recorder }: MessageWalk, { id, token }: Made) {
  const url = (path: string) => `/consents/${id}${path}?t=${encodeURIComponent(token)}`;
  const headers = { Accept: 'text/html' };
  const get = async (path: string) => (await recorder.fetch(url(path), { headers })).text();
  const post = (path: string, fields: Record<string, string>) =>
    recorder.fetch(url(path), { method: 'POST', headers, body: new URLSearchParams(fields) });
  const answers = Object.entries(complete).map(([name, [value = '']]) => [name, value] as const);
  const info = 'element/information/information.001/1.0';
  return { get, post, submit: () => post('/submit', { info, ...Object.fromEntries(answers) }) };
}

async function make({ shop }: MessageWalk, context: Record<string, unknown>): Promise<Made> {
  const subject = `subject-${randomUUID()}`;
  const made = await shop.send('POST', '/consents', { subject, layout: 'layout.001', ...context });
  if (made.status !== 201) throw new Error(await made.text());
  return (await made.json()) as Made;
}

/** Notes what is stored of a code and of messages while they are under way. */
async function noteDigests({ databaseUrl, digests }: MessageWalk, { id }: Made): Promise<void> {
  const rows = await rowsOf<{ digest: string }>(
    { databaseUrl },
    `SELECT encode(c.mac, 'hex') AS digest FROM transactions.codes AS c WHERE c.transaction = $1
     UNION ALL SELECT encode(m.address, 'hex') FROM transactions.messages AS m WHERE m.transaction = $1`,
    [id],
  );
  digests.push(...rows.map(({ digest }) => digest));
}

const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
const sixDigits = (text: string | undefined) => /(?<![\d#])\d{6}(?!\d)/.exec(text ?? '')?.[0] ?? 'no code';

/**
 * A subject confirms answers in a browser, after a wrong code. @param received waits for the code and returns
 * the message or page that has it.
 */
async function confirmInBrowser(
  walk: MessageWalk,
  context: Record<string, unknown>,
  received: (made: Made) => Promise<string | undefined>,
): Promise<Made> {
  const made = await make(walk, context);
  const browser = browserOf(walk, made);
  await browser.get('/submit');
  await browser.submit();
  await browser.get('/confirm');
  const code = sixDigits(await received(made));
  walk.codes.push(code);
  await noteDigests(walk, made);
  for (const entered of [wrong(code), code]) await browser.post('/confirm', { code: entered });
  await browser.get('');
  for (const path of ['', '/confirm', '/messages']) await walk.shop.get(`/consents/${made.id}${path}`);
  return made;
}

/** Waits until every message of a transaction has ended. */
async function ended({ shop }: MessageWalk, { id }: Made): Promise<void> {
  await vi.waitFor(
    async () => {
      const messages = (await (await shop.get(`/consents/${id}/messages`)).json()) as { state: string }[];
      if (messages.length === 0 || messages.some(({ state }) => state === 'PENDING'))
        throw new Error('messages are on their way');
    },
    { timeout: 50_000, interval: 20 },
  );
}

/** A code on the page, by mail and by text message, each entered in a browser. */
export async function walkWithCodes(walk: MessageWalk, emailAddress: string, phoneNumber: string) {
  const { mails, gateway } = walk;
  const subjectInfos = { emailAddress, phoneNumber };
  await confirmInBrowser(walk, { subjectInfos, confirmation: 'FORM_CODE' }, async ({ id }) =>
    (await walk.shop.get(`/consents/${id}/confirm`)).text(),
  );
  const byMail = await confirmInBrowser(
    walk,
    { subjectInfos, confirmation: 'EMAIL_CODE' },
    async () => (await mails.waitFor(emailAddress)).mail.text,
  );
  const bySms = await confirmInBrowser(
    walk,
    { subjectInfos, confirmation: 'SMS_CODE' },
    async () => (await gateway.waitFor(phoneNumber)).fields.text,
  );
  for (const made of [byMail, bySms]) await ended(walk, made);
}

/** An invitation at the creation, one by mail and one by text message on request, and a notification. */
export async function walkWithMails(walk: MessageWalk, emailAddress: string, phoneNumber: string) {
  const invited = await make(walk, { subjectInfos: { emailAddress }, sendInvitation: true });
  await walk.shop.send('POST', `/consents/${invited.id}/invitation`);
  await walk.shop.send('POST', `/consents/${invited.id}/invitation`, { channel: 'SMS', phoneNumber });
  await noteDigests(walk, invited);
  await ended(walk, invited);
  const notified = await make(walk, {
    notification: 'email.001',
    notificationRecipient: emailAddress,
    subjectInfos: {},
  });
  await browserOf(walk, notified).submit();
  await ended(walk, notified);
}

/** Servers that refuse for good and quote what they refuse. */
export async function meetRefusals(walk: MessageWalk, emailAddress: string, phoneNumber: string) {
  walk.mails.behave(emailAddress, { data: 550 });
  walk.gateway.reply(400);
  const subjectInfos = { emailAddress, phoneNumber };
  for (const confirmation of ['EMAIL_CODE', 'SMS_CODE']) {
    const made = await make(walk, { subjectInfos, confirmation });
    await browserOf(walk, made).submit();
    await ended(walk, made);
  }
  walk.gateway.reply(202);
}

/** A database that refuses to store codes and messages, and quotes all of them. */
export async function meetComplaints(walk: MessageWalk, emailAddress: string): Promise<void> {
  for (const table of ['codes', 'messages']) {
    const made = await make(walk, { subjectInfos: { emailAddress }, confirmation: 'EMAIL_CODE' });
    await rowsOf(
      walk,
      `CREATE OR REPLACE FUNCTION public.complain() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'no: %', NEW USING DETAIL = NEW::text, HINT = NEW::text; END $$;
       CREATE TRIGGER complain BEFORE INSERT OR UPDATE ON transactions.${table}
         FOR EACH ROW EXECUTE FUNCTION public.complain()`,
    );
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
    await walk.recorder.fetch(`/consents/${made.id}/submit?t=${encodeURIComponent(made.token)}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(complete),
    });
    await rowsOf(walk, `DROP TRIGGER complain ON transactions.${table}`);
  }
}

/** Events that the contract refuses, and that are too old to be of another release: they are put aside. */
export async function meetPoison(walk: MessageWalk, emailAddress: string): Promise<void> {
  await rowsOf(
    walk,
    `CREATE FUNCTION public.spoil() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN NEW.event = NEW.event || '{"time": "2020-01-01T00:00:00Z", "data": {"kind": 17}}'; RETURN NEW; END $$;
     CREATE TRIGGER spoil BEFORE INSERT ON transactions.outbox FOR EACH ROW EXECUTE FUNCTION public.spoil()`,
  );
  await ended(walk, await make(walk, { subjectInfos: { emailAddress }, sendInvitation: true }));
  await vi.waitFor(
    async () => {
      const letters = await rowsOf(walk, 'SELECT FROM transactions.dead_letters');
      if (letters.length < 2) throw new Error('events are on their way');
    },
    { timeout: 50_000, interval: 20 },
  );
}
