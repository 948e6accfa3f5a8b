import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { makePart, newPeer, type PartChanges } from '../support/peers/peer-parts.ts';
import { until } from '../support/run/until.ts';

type Entry = components['schemas']['Entry'];
type Peer = components['schemas']['Peer'];
type Transaction = components['schemas']['Transaction'];
type Message = components['schemas']['Message'];

const [server, clinicServer] = await Promise.all([startMailServer(), startMailServer()]);
const lab = useInstance({ INSTANCE_NAME: 'Northern Lab', MAIL_URL: server.url });
const clinic = useInstance({ INSTANCE_NAME: 'Lakeside Clinic', MAIL_URL: clinicServer.url });
let admin: Caller;
let hospital: OwnPeer;
let entry: Peer;
beforeAll(async () => {
  admin = await signIn(lab, 'admin');
  hospital = await startOwnPeer();
  const pairing = { pairing: randomUUID(), apiKey: (await createKey(lab, 'partner', 'PEER')).key };
  const description = await hospital.describe();
  const paired = await hospital.send(lab.url, 'POST', '/federation/pairing', { ...pairing, description });
  expect(paired.status).toBe(200);
  [entry] = (await (await admin.get('/peers')).json()) as [Peer];
  const model = (await (await admin.get('/models/serials/processing.001')).json()) as Entry;
  await admin.send('PUT', `/models/${model.id}`, { name: model.name, shared: true });
});
afterAll(() => Promise.all([server.close(), clinicServer.close(), hospital?.close()]));

let people = 0;
const someone = () => {
  people += 1;
  return `ann.${people}@example.org`;
};
const notify = async (changes: { notification?: string; subjectPrefix?: string }) =>
  expect((await admin.send('PUT', `/peers/${entry.id}`, changes)).status).toBe(200);

/** Hands over a part as the hospital. @returns what was sent, and the transaction at the laboratory. */
async function send(changes: PartChanges = {}) {
  const part = await makePart(lab, { ...changes, peer: newPeer({ url: hospital.url }) });
  const put = () => hospital.send(lab.url, 'PUT', `/federation/submissions/${part.sid}`, part.submission);
  expect((await put()).status).toBe(200);
  const query = encodeURIComponent(part.submission.subject);
  const { values } = (await (await admin.get(`/transactions?subject=${query}`)).json()) as {
    values: [Transaction];
  };
  return { part, put, made: values[0] };
}
const decide = ({ sid }: { sid: string }, decision: 'commit' | 'rollback') =>
  hospital.send(lab.url, 'POST', `/federation/submissions/${sid}/decision`, { decision });
const messagesOf = async ({ id }: Transaction) =>
  (await (await admin.get(`/consents/${id}/messages`)).json()) as Message[];

describe('the notification of an owner', () => {
  it('is not sent by default, although the address is known', async () => {
    const emailAddress = someone();
    const { made } = await send({ content: { subjectInfos: { emailAddress } } });
    expect(made).toMatchObject({ state: 'COMMITTED' });
    expect(await (await admin.get(`/consents/${made.id}/context`)).json()).toMatchObject({
      subjectInfos: { emailAddress },
    });
    expect(await messagesOf(made)).toEqual([]);
  });

  it("goes to the subject, with the owner's receipt and a link that opens it", async () => {
    const emailAddress = someone();
    await notify({ notification: 'email.001' });
    const { made } = await send({ content: { subjectInfos: { emailAddress, phoneNumber: '+33639980001' } } });
    const { mail } = await server.waitFor(emailAddress);
    expect(mail.attachments).toMatchObject([{ filename: 'receipt.pdf', mimeType: 'application/pdf' }]);
    const link = await leadsTo(linkIn(mail));
    expect(link).toContain(`${lab.url}/consents/${made.id}?t=`);
    const page = await lab.fetch(link, { headers: { Accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(`/receipts/${made.id}`)]);
    await until(async () =>
      expect(await messagesOf(made)).toMatchObject([{ kind: 'notification', state: 'SENT' }]),
    );
  });

  it('is sent once, however often the part arrives', async () => {
    const emailAddress = someone();
    await notify({ notification: 'email.001' });
    const { put, made } = await send({ content: { subjectInfos: { emailAddress } } });
    await Promise.all([put(), put(), put()]);
    await server.waitFor(emailAddress);
    expect(server.to(emailAddress)).toHaveLength(1);
    expect(await messagesOf(made)).toHaveLength(1);
  });

  it('of a held part is sent after the decision `commit` only', async () => {
    await notify({ notification: 'email.001' });
    const hold = async () => {
      const emailAddress = someone();
      const content = { subjectInfos: { emailAddress } };
      return { emailAddress, ...(await send({ content, submission: { mode: 'hold' } })) };
    };
    const [kept, dropped] = [await hold(), await hold()];
    expect([await messagesOf(kept.made), await messagesOf(dropped.made)]).toEqual([[], []]);
    expect((await decide(dropped.part, 'rollback')).status).toBe(200);
    expect((await decide(kept.part, 'commit')).status).toBe(200);
    await server.waitFor(kept.emailAddress);
    expect(await messagesOf(dropped.made)).toEqual([]);
    expect(server.to(dropped.emailAddress)).toEqual([]);
  });

  it('has the built-in text if there is no such model', async () => {
    const emailAddress = someone();
    await notify({ notification: 'email.of.nobody' });
    const { made } = await send({ content: { subjectInfos: { emailAddress } } });
    const { mail } = await server.waitFor(emailAddress);
    expect(await leadsTo(linkIn(mail))).toContain(`${lab.url}/consents/${made.id}?t=`);
  });

  it('is not sent without a valid address, but the part is accepted', async () => {
    await notify({ notification: 'email.001' });
    for (const content of [
      {},
      { subjectInfos: { phoneNumber: '+33639980001' } },
      { subjectInfos: { emailAddress: 'a@b, c@d' } },
      { subjectInfos: { emailAddress: 7 } as never },
    ]) {
      const { made } = await send({ content });
      expect(made.state).toBe('COMMITTED');
      expect(await messagesOf(made)).toEqual([]);
      const context = (await (await admin.get(`/consents/${made.id}/context`)).json()) as object;
      expect(JSON.stringify(context)).not.toContain('emailAddress');
    }
  });

  it('is also sent after a later change at the owner', async () => {
    const emailAddress = someone();
    await notify({ notification: 'email.001', subjectPrefix: 'hospital:' });
    const part = await makePart(lab, {
      peer: newPeer({ url: hospital.url }),
      content: { subjectInfos: { emailAddress } },
    });
    await hospital.send(lab.url, 'PUT', `/federation/submissions/${part.sid}`, part.submission);
    await server.waitFor(emailAddress);
    const [row] = await rowsOf<{ id: string }>(
      lab,
      'SELECT id FROM transactions.transactions WHERE subject = $1',
      [`hospital:${part.submission.subject}`],
    );
    const child = (await (await admin.send('POST', `/consents/${row?.id}/child`)).json()) as Transaction;
    const answers = { 'element/processing/processing.001/1.0': ['refused'] };
    expect((await admin.send('POST', `/consents/${child.id}/submit`, answers)).status).toBe(200);
    await server.waitFor(emailAddress, 2);
    await notify({ subjectPrefix: '' });
  });
});

describe('a subject who answers to two instances', () => {
  /** Texts of all rows of a service. */
  const stored = async (schema: string) => {
    const tables = await rowsOf<{ name: string }>(
      clinic,
      `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class AS c
         JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = $1`,
      [schema],
    );
    const rows = tables.map(({ name }) => rowsOf(clinic, `SELECT r::text AS row FROM ${name} AS r`));
    return JSON.stringify(await Promise.all(rows));
  };

  it('gets one mail from each, and the leader has nothing that opens the receipt of the owner', async () => {
    const { here } = await pairInstances(clinic, lab);
    const named = await admin.send('PUT', `/peers/${here.id}`, { notification: 'email.001' });
    expect(named.status).toBe(200);
    const operator = await signIn(clinic, 'admin');
    const emailAddress = someone();
    const theirs = `processing.001@${new URL(lab.url).host}`;
    const made = await until(() =>
      createTransaction(operator, {
        layoutData: { elements: ['processing.001', theirs] },
        notification: 'email.001',
        subjectInfos: { emailAddress, born: '1970-01-01' },
      }),
    );
    const answered = await subjectOf(clinic, made).submit({
      'element/processing/processing.001/1.0': ['accepted'],
      [`element/processing/${theirs}/1.0`]: ['accepted'],
    });
    expect(answered.status).toBe(200);
    const [ours, owners] = [await clinicServer.waitFor(emailAddress), await server.waitFor(emailAddress)];
    expect(await leadsTo(linkIn(ours.mail))).toContain(`${clinic.url}/consents/${made.id}?t=`);
    expect(ours.raw).not.toContain(lab.url);
    const { followers } = await until(async () => {
      const transaction = (await (await operator.get(`/consents/${made.id}`)).json()) as Transaction;
      expect(transaction.followers).toMatchObject([{ state: 'ACCEPTED' }]);
      return transaction;
    });
    const inMail = linkIn(owners.mail);
    const [link = '', token = ''] = /https?:\/\/\S+\?t=([\w.-]+)/.exec(await leadsTo(inMail)) ?? [];
    expect(link).toContain(`${lab.url}/consents/${followers?.[0]?.id}?t=`);
    for (const schema of ['transactions', 'peers']) {
      expect(await stored(schema)).not.toContain(token);
      expect(await stored(schema)).not.toContain(inMail.slice(-10));
      expect(await stored(schema)).not.toContain(`${lab.url}/consents/`);
    }
    // The same search finds what the leader has: the address in its own context, and the peer.
    expect(await stored('transactions')).toContain(emailAddress);
    expect(await stored('peers')).toContain(lab.url);
    expect(await stored('peers')).not.toContain(emailAddress);
    expect([clinic.logs(), lab.logs()].join()).not.toContain(emailAddress);
    const context = (await (await admin.get(`/consents/${followers?.[0]?.id}/context`)).json()) as object;
    expect(context).toMatchObject({ subjectInfos: { emailAddress } });
    expect(JSON.stringify(context)).not.toContain('born');
    expect([server.to(emailAddress).length, clinicServer.to(emailAddress).length]).toEqual([1, 1]);
  });
});
