import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { type OwnerProxy, startOwnerProxy } from '../chaos/peers/owner-proxy.ts';
import { createRandom } from '../chaos/random.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { type LiveForm, problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Entry = components['schemas']['Entry'];
type Peer = components['schemas']['Peer'];
type Transaction = components['schemas']['Transaction'];

let clinic: TestInstance;
let lab: TestInstance;
/** The proxy through which the clinic calls the laboratory. */
let way: OwnerProxy;
let clinicAdmin: Caller;
let labAdmin: Caller;
beforeAll(async () => {
  const port = await freePort();
  way = await startOwnerProxy({ target: port, random: createRandom(1) });
  [clinic, lab] = await Promise.all([
    startTestInstance({ INSTANCE_NAME: 'Lakeside Clinic' }),
    startTestInstance({ INSTANCE_NAME: 'Northern Lab', PORT: String(port), BASE_URL: way.url }),
  ]);
  [clinicAdmin, labAdmin] = await Promise.all([signIn(clinic, 'admin'), signIn(lab, 'admin')]);
  await share('processing.002');
  await pairInstances(clinic, lab);
}, 60_000);
afterAll(async () => {
  await clinic?.stop();
  await lab?.stop();
  await way?.close();
});

async function share(key: string): Promise<void> {
  const { id, name } = (await (await labAdmin.get(`/models/serials/${key}`)).json()) as Entry;
  expect((await labAdmin.send('PUT', `/models/${id}`, { name, shared: true })).status).toBe(200);
}

const own = 'element/processing/processing.001/1.0';
const theirs = () => `processing.002@${new URL(lab.url).host}`;
const theirAnswer = () => `element/processing/${theirs()}/1.0`;

/** Has the clinic ask somebody, as soon as it knows what the laboratory shares. */
const ask = (context: Record<string, unknown> = {}) =>
  until(() =>
    createTransaction(clinicAdmin, {
      layoutData: { elements: ['processing.001', theirs()] },
      ...context,
    }),
  );
const answer = async (made: { id: string; token: string }) => {
  const response = await subjectOf(clinic, made).submit({
    [own]: ['accepted'],
    [theirAnswer()]: ['refused'],
  });
  expect(response.status).toBe(200);
  return transactionIn(response);
};
const atClinic = async (id: string) =>
  (await (await clinicAdmin.get(`/consents/${id}`)).json()) as Transaction;
const settled = (id: string, state: string) =>
  until(async () => {
    const transaction = await atClinic(id);
    expect(transaction.followers).toMatchObject([{ location: lab.url, state }]);
    return transaction;
  });

/** Lets time pass in all services of both instances. */
const letAllPass = (interval: string) =>
  Promise.all(
    [clinic, lab].flatMap((instance) =>
      (['transactions', 'peers', 'forms'] as const).map((schema) => letTimePass(instance, interval, schema)),
    ),
  );
/** Ends the clinic's waits for another attempt, and for another look at what the laboratory asks. */
const letWaitsPass = async () => {
  await runInDatabase(clinic, 'UPDATE peers.queues SET next_at = now()');
  await runInDatabase(
    clinic,
    'UPDATE peers.deliveries SET not_before = least(not_before, peers.accord_now())',
  );
  await runInDatabase(clinic, 'UPDATE peers.catalogues SET due_at = peers.accord_now()');
};

describe('an answer to a question of a paired instance', () => {
  it("is recorded at its owner, with the owner's texts, and nowhere else", async () => {
    const made = await ask();
    const form = (await subjectOf(clinic, made).form()) as LiveForm;
    expect(form.elements.map(({ owner }) => owner)).toEqual([null, 'Northern Lab']);
    await answer(made);
    const { followers, state } = await settled(made.id, 'ACCEPTED');
    expect(state).toBe('COMMITTED');
    const [record] = (await recordsOf(labAdmin, made.subject))['processing.002'] ?? [];
    expect(record).toMatchObject({
      value: 'refused',
      origin: 'PEER',
      author: 'Lakeside Clinic',
      leader: { location: clinic.url, id: made.id },
      transaction: followers?.[0]?.id,
    });
    expect(Object.keys(await recordsOf(clinicAdmin, made.subject))).toEqual(['processing.001']);
  });

  it('holds as long as its owner says, unless the form gives a shorter time', async () => {
    const content = { ...sampleContent.processing, title: 'Samples', validity: 'P30Y' };
    const { id, key } = await makeLiveModel(labAdmin, 'processing', { en: content });
    const named = { name: 'Samples', shared: true };
    expect((await labAdmin.send('PUT', `/models/${id}`, named)).status).toBe(200);
    const element = `${key}@${new URL(lab.url).host}`;
    const yearsOf = async (context: Record<string, unknown>) => {
      const made = await until(() =>
        createTransaction(clinicAdmin, {
          layoutData: { elements: ['processing.001', element] },
          ...context,
        }),
      );
      const { labels } = (await subjectOf(clinic, made).form()) as LiveForm & {
        labels: { elements: Record<string, { validity?: string }> };
      };
      const answers = { [own]: ['accepted'], [`element/processing/${element}/1.0`]: ['accepted'] };
      expect((await subjectOf(clinic, made).submit(answers)).status).toBe(200);
      await settled(made.id, 'ACCEPTED');
      const [record] = (await recordsOf(labAdmin, made.subject))[key] ?? [];
      const { creationTimestamp = 0, expirationTimestamp = 0 } = record ?? {};
      const validity = labels.elements[`element/processing/${element}/1.0`]?.validity;
      const said = validity === undefined ? null : plainSpaces(validity);
      return [Math.round((expirationTimestamp - creationTimestamp) / 31_557_600_000), said];
    };
    expect(await yearsOf({})).toEqual([30, expect.stringContaining('30 years')]);
    expect(await yearsOf({ validity: 'P2Y' })).toEqual([2, null]);
    expect(await yearsOf({ validity: 'P100Y' })).toEqual([30, expect.stringContaining('30 years')]);
  });

  it("leaves the owner's signed acknowledgement and an empty queue", async () => {
    const made = await ask();
    await answer(made);
    await settled(made.id, 'ACCEPTED');
    const rows = await rowsOf<{ verdict: string; receipt: string }>(
      clinic,
      'SELECT r.verdict, r.receipt FROM peers.acknowledgements AS r ORDER BY r.received_at DESC LIMIT 1',
    );
    expect(rows[0]?.verdict).toBe('committed');
    const claims = JSON.parse(
      Buffer.from(rows[0]?.receipt.split('.')[1] as string, 'base64url').toString(),
    ) as object;
    expect(claims).toMatchObject({ iss: lab.url, aud: clinic.url, verdict: 'committed' });
    const [peer] = (await (await clinicAdmin.get('/peers')).json()) as [Peer];
    expect(peer).toMatchObject({ url: lab.url, backlog: 0 });
  });

  it('is committed at both instances together with peerCommit together', async () => {
    const made = await ask({ peerCommit: 'together' });
    expect((await answer(made)).state).toBe('SUBMITTED');
    const { followers, state } = await settled(made.id, 'ACCEPTED');
    expect(state).toBe('COMMITTED');
    const [record] = (await recordsOf(labAdmin, made.subject))['processing.002'] ?? [];
    expect(record).toMatchObject({
      state: 'COMMITTED',
      status: 'VALID',
      transaction: followers?.[0]?.id,
    });
    const kinds = await rowsOf<{ kind: string }>(
      clinic,
      `SELECT r.kind FROM peers.acknowledgements AS r JOIN transactions.sent_parts AS f ON f.sid = r.sid
        WHERE f.transaction = '${made.id}' ORDER BY r.kind`,
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(['decide', 'submit']);
    // The decision has arrived, so the owner does not ask for it.
    await until(async () => expect(await rowsOf(lab, 'SELECT sid FROM peers.deliveries')).toEqual([]));
  });

  it('is delivered once after its owner was unavailable for three days', async () => {
    const asked = { layoutData: { elements: ['processing.001', theirs()] } };
    const page = async () => (await clinicAdmin.send('POST', '/consents/preview', asked)).text();
    const before = await page();
    way.behave('down');
    const early = [await ask(), await ask()];
    for (const made of early) await answer(made);
    const bound = await ask({ peerCommit: 'together' });
    await answer(bound);
    await letAllPass('72 hours');
    await until(async () => {
      const [row] = await rowsOf<{ failures: number }>(clinic, 'SELECT failures FROM peers.catalogues');
      expect(row?.failures).toBeGreaterThan(0);
    });
    const after = await page();
    expect(after).toContain('Northern Lab has not been reached since');
    expect(after.replace(/<p class="hint">Shown as of [^<]*<\/p>/, '')).toBe(before);
    const late = await ask();
    const waiting = [...early, late];
    expect((await answer(late)).state).toBe('COMMITTED');
    for (const { id } of waiting)
      expect(await atClinic(id)).toMatchObject({ state: 'COMMITTED', followers: [{ state: 'SENDING' }] });
    await until(async () =>
      expect(await atClinic(bound.id)).toMatchObject({
        state: 'ROLLBACK',
        followers: [{ state: 'DROPPED' }],
      }),
    );

    // The copy is too old to be shown; forms without elements of peers still work.
    await letTimePass(clinic, '31 days', 'forms');
    const refused = await problemOf(
      await clinicAdmin.send('POST', '/consents', { subject: 'ann', ...asked }),
    );
    expect(refused).toMatchObject({ said: '503 unavailable', peer: lab.url });
    expect(refused.detail).toContain('Northern Lab');
    await createTransaction(clinicAdmin);
    await letTimePass(clinic, '72 hours', 'forms');

    way.behave('well');
    await letWaitsPass();
    for (const { id, subject } of waiting) {
      await settled(id, 'ACCEPTED');
      expect((await recordsOf(labAdmin, subject))['processing.002']).toHaveLength(1);
    }
    await until(async () => {
      await letWaitsPass();
      expect(await rowsOf(clinic, 'SELECT sid FROM peers.deliveries')).toEqual([]);
    });
    expect(await recordsOf(labAdmin, bound.subject)).toEqual({});
    const leaders = [...waiting, bound].map(({ id }) => id);
    const taken = await rowsOf<{ id: string }>(
      lab,
      "SELECT t.leader->>'id' AS id FROM transactions.transactions AS t WHERE t.leader->>'id' = ANY($1)",
      [leaders],
    );
    expect(taken.map(({ id }) => id).sort()).toEqual(waiting.map(({ id }) => id).sort());
    await until(async () => expect(await page()).toBe(before));
  });

  it('arrives although its event was lost, and its verdict is reported again if the report was lost', async () => {
    way.behave('down');
    const [unsent, unreported] = [await ask(), await ask()];
    for (const made of [unsent, unreported]) await answer(made);
    const partOf = { text: 'FROM transactions.sent_parts AS f WHERE f.transaction = $1', id: unsent.id };
    await until(async () =>
      expect(
        await rowsOf(
          clinic,
          `DELETE FROM peers.deliveries WHERE sid = (SELECT f.sid ${partOf.text}) RETURNING sid`,
          [partOf.id],
        ),
      ).toHaveLength(1),
    );
    const [part] = await rowsOf<{ sealed: string; at: Date }>(
      clinic,
      `SELECT f.sealed, f.changed_at AS at ${partOf.text}`,
      [unreported.id],
    );
    way.behave('well');
    await letWaitsPass();
    await settled(unreported.id, 'ACCEPTED');
    await runInDatabase(
      clinic,
      `UPDATE transactions.sent_parts SET state = 'SENDING', sealed = $2, changed_at = $3 WHERE transaction = $1`,
      [unreported.id, part?.sealed, part?.at],
    );
    await letAllPass('146 hours');
    for (const { id, subject } of [unsent, unreported]) {
      await settled(id, 'ACCEPTED');
      expect((await recordsOf(labAdmin, subject))['processing.002']).toHaveLength(1);
    }
  });

  it('is refused by its owner if the element is no longer shared', async () => {
    const made = await ask();
    // Before the clinic could know of it.
    await runInDatabase(clinic, "UPDATE peers.catalogues SET due_at = 'infinity'");
    await runInDatabase(lab, "UPDATE forms.models SET shared = false WHERE key = 'processing.002'");
    await answer(made);
    expect((await settled(made.id, 'REFUSED')).followers?.[0]).toMatchObject({ reason: 'unknown-element' });
    expect(await recordsOf(labAdmin, made.subject)).toEqual({});
  });
});
