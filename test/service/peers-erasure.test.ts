import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { openPages } from '../support/console/open-pages.ts';
import type { Caller } from '../support/instances/callers.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { tablesWith } from '../support/instances/tables-with.ts';
import {
  type Asked,
  type ClinicAndLab,
  own as ownQuestion,
  startClinicAndLab,
} from '../support/peers/clinic-and-lab.ts';
import { until } from '../support/run/until.ts';

type Erasure = components['schemas']['Erasure'];
type Transaction = components['schemas']['Transaction'];

let here: ClinicAndLab;
beforeAll(async () => {
  here = await startClinicAndLab();
}, 60_000);
afterEach(async () => {
  here.way.behave('well');
  await setPeer('ASK');
});
afterAll(() => here?.stop());

/** What the laboratory does if the clinic erases somebody. */
async function setPeer(erasure: 'ASK' | 'FOLLOW') {
  const [peer] = (await (await here.labAdmin.get('/peers')).json()) as { id: string }[];
  const changed = await here.labAdmin.send('PUT', `/peers/${peer?.id}`, { erasure });
  expect(await changed.json()).toMatchObject({ erasure });
}

let hours = 0;
async function letPass(more: number) {
  hours += more;
  await here.letTimePassAtClinic(`${hours} hours`);
}

const nameAnew = () => `canary-${crypto.randomUUID()}`;
async function consent(context: Record<string, unknown> = {}): Promise<Asked> {
  const made = await here.consent({ subject: nameAnew(), ...context });
  await here.delivered(made);
  return made;
}
/** Erases a subject of the clinic. @returns the id of the erasure. */
async function erase({ subject }: Pick<Asked, 'subject'>): Promise<string> {
  const started = await here.clinicAdmin.send('POST', `/subjects/${subject}/erasure`);
  expect(started.status).toBe(202);
  return ((await started.json()) as Erasure).id;
}
const erasureAt = async (admin: Caller, id: string) =>
  (await (await admin.get(`/erasures/${id}`)).json()) as Erasure;
const told = (id: string, expected: object) =>
  until(async () => {
    const { state, peers } = await erasureAt(here.clinicAdmin, id);
    expect(state).toBe('DONE');
    expect(peers).toMatchObject([{ name: 'Northern Lab', location: here.lab.url, ...expected }]);
  });
/** The erasures of a subject that the clinic has asked for, newest first. */
async function asked({ subject }: Pick<Asked, 'subject'>): Promise<Erasure[]> {
  const rows = await rowsOf<{ id: string }>(
    here.lab,
    'SELECT id FROM transactions.erasures WHERE subject = $1 AND peer IS NOT NULL ORDER BY created_at DESC',
    [subject],
  );
  return Promise.all(rows.map(({ id }) => erasureAt(here.labAdmin, id)));
}
const decide = async (id: string | undefined, body: object) =>
  expect((await here.labAdmin.send('PUT', `/erasures/${id}/status`, body)).status).toBe(200);
const doneAtLab = (id: string | undefined) =>
  until(async () => expect(await erasureAt(here.labAdmin, id as string)).toMatchObject({ state: 'DONE' }));
const atLab = async (subject: string) =>
  (await recordsOf(here.labAdmin, subject))['processing.002']?.map(({ value }) => value) ?? [];

/** The choices of a person at the clinic: JSON, and the page with what its buttons post; sessions end. */
function choicesOf({ subject }: Pick<Asked, 'subject'>) {
  const session = async () => {
    const opened = await here.clinicAdmin.send('POST', '/choices', { subject });
    return new URL(((await opened.json()) as { url: string }).url).search;
  };
  const read = async (accept: string) =>
    here.clinic.fetch(`/choices${await session()}`, { headers: { Accept: accept } });
  return {
    sent: async () => {
      const shown = (await (await read('application/json')).json()) as components['schemas']['Choices'];
      return shown.organisations[1]?.sent;
    },
    html: async () => (await read('text/html')).text(),
    /** Asks peers to erase, in JSON. */
    ask: async (body: object) =>
      here.clinic.fetch(`/choices/erasure${await session()}`, {
        method: 'POST',
        headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    /** Clicks. */
    click: async () =>
      here.clinic.fetch(`/choices/erasure${await session()}`, {
        method: 'POST',
        headers: { Accept: 'text/html' },
        body: new URLSearchParams({ peers: here.way.url }),
        redirect: 'manual',
      }),
  };
}

describe('an erasure at one peer, which the person asks for', () => {
  it('is asked there, shown as under way and as done, and erases nothing here', async () => {
    const made = await consent();
    const choices = choicesOf(made);
    expect(await choices.sent()).toMatchObject({ erasable: true });
    expect(await choices.html()).toContain('This organisation is asked to erase everything');
    expect((await choices.click()).status).toBe(303);
    await until(async () => {
      expect(await choices.sent()).toMatchObject({ erasable: false, erasure: { state: 'DELIVERED' } });
    });
    expect(await choices.html()).toContain(
      'You asked for the erasure of everything that was sent there. Was told on',
    );
    expect(await choices.html()).not.toContain('This organisation is asked to erase everything');
    const [request, ...others] = await asked(made);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ state: 'REQUESTED', peer: here.clinic.url });
    await decide(request?.id, { status: 'RUNNING' });
    await doneAtLab(request?.id);
    expect(await tablesWith(here.lab, made.subject)).toEqual([]);
    await letPass(25);
    await until(async () => {
      expect(await choices.sent()).toMatchObject({
        erasable: false,
        withdrawable: false,
        erasure: { state: 'ACKNOWLEDGED', outcome: 'done' },
      });
    });
    expect(await choices.html()).toContain('that it has carried this out.');
    expect(await choices.html()).not.toContain('has received and saved answers from you');
    const [kept] = (await recordsOf(here.clinicAdmin, made.subject))['processing.001'] ?? [];
    expect(kept).toMatchObject({ state: 'COMMITTED', status: 'VALID' });
  });

  it('answers JSON with what each peer has done, is the same when it is repeated, and refuses other peers', async () => {
    const made = await consent();
    const choices = choicesOf(made);
    const first = await choices.ask({ peers: [here.way.url] });
    expect(first.status).toBe(202);
    const erasure = (await first.json()) as Erasure;
    expect(erasure).toMatchObject({
      state: 'DONE',
      at: [here.way.url],
      counts: { transactions: 0, records: 0 },
    });
    await told(erasure.id, { state: 'DELIVERED' });
    expect(await (await choices.ask({ peers: [here.way.url] })).json()).toMatchObject({ id: erasure.id });
    expect(await asked(made)).toHaveLength(1);
    const unknown = await choices.ask({ peers: [here.way.url, 'https://unknown.example'] });
    expect(unknown.status).toBe(422);
    expect(await unknown.json()).toMatchObject({ errors: [{ pointer: '/peers/1' }] });
    const withReason = await choices.ask({ peers: [here.way.url], reason: 'A letter' });
    expect(await withReason.json()).toMatchObject({ errors: [{ pointer: '/reason' }] });
    const exported = await here.clinicAdmin.get(`/subjects/${made.subject}/export`);
    expect(await exported.json()).toMatchObject({ erasures: [{ id: erasure.id, at: [here.way.url] }] });
    const document = await here.clinicAdmin.get(`/subjects/${made.subject}/export?format=html`);
    expect(await document.text()).toContain('You asked for the erasure of everything that was sent there.');
    const desk = await openPages(here.clinic, 'admin');
    const erasures = '/console/subjects/erasures';
    for (const path of [erasures, `${erasures}/${erasure.id}`])
      expect(await (await desk.get(path)).text()).toContain('Only asked of peers, by the person');
    await desk.close();
  });

  it('is one request when it is sent ten times at once, beside a withdrawal', async () => {
    const made = await consent();
    const choices = choicesOf(made);
    const requests = Array.from({ length: 10 }, () => choices.ask({ peers: [here.way.url] }));
    const withdrawn = here.clinicAdmin.send('POST', `/consents/${made.id}/withdraw`, {});
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const erasures = await Promise.all(answers.map(async (each) => ((await each.json()) as Erasure).id));
    expect(new Set(erasures).size).toBe(1);
    expect((await withdrawn).status).toBe(201);
    await told(erasures[0] as string, { state: 'DELIVERED' });
    expect(await asked(made)).toHaveLength(1);
  });

  it('waits for a peer that is away, which is told later', async () => {
    const made = await consent();
    const choices = choicesOf(made);
    here.way.behave('down');
    expect((await choices.ask({ peers: [here.way.url] })).status).toBe(202);
    expect(await choices.sent()).toMatchObject({ erasure: { state: 'QUEUED' } });
    expect(await choices.html()).toContain('Is being told.');
    here.way.behave('well');
    await until(async () => {
      await here.letWaitsPass();
      expect(await choices.sent()).toMatchObject({ erasure: { state: 'DELIVERED' } });
    });
  });

  it('is told once: the erasure of everything that follows shows how it stands, and asks about the rest', async () => {
    const made = await consent();
    const choices = choicesOf(made);
    await choices.ask({ peers: [here.way.url] });
    await until(async () => expect(await choices.sent()).toMatchObject({ erasure: { state: 'DELIVERED' } }));
    await consent({ subject: made.subject, validity: 'P5M' });
    expect(await choices.sent()).toMatchObject({ forms: 2, erasable: true });
    const id = await erase(made);
    await told(id, { state: 'DELIVERED' });
    expect(await asked(made)).toHaveLength(1);
    const notices = await rowsOf(here.clinic, 'SELECT FROM transactions.notices WHERE erasure = $1', [id]);
    expect(notices).toHaveLength(2);
    expect(await tablesWith(here.clinic, made.subject)).toEqual([]);
  });
});

describe('an erasure at the leader', () => {
  it('is requested at the owner, and reported as done after an administrator has started it', async () => {
    const made = await consent();
    const id = await erase(made);
    await told(id, { state: 'DELIVERED' });
    const [request, ...others] = await asked(made);
    expect(others).toEqual([]);
    expect(request).toMatchObject({ state: 'REQUESTED', peer: here.clinic.url });
    expect(await atLab(made.subject)).toEqual(['accepted']);
    await decide(request?.id, { status: 'RUNNING' });
    await doneAtLab(request?.id);
    expect(await erasureAt(here.labAdmin, request?.id as string)).toMatchObject({
      counts: { transactions: 1, records: 1, receipts: 1 },
      peers: [],
    });
    expect(await tablesWith(here.lab, made.subject)).toEqual([]);
    await letPass(25);
    await told(id, { state: 'ACKNOWLEDGED', outcome: 'done' });
    expect(await tablesWith(here.clinic, made.subject)).toEqual([]);
  });

  it('names nobody at the owner any more once the owner has erased the whole person', async () => {
    const made = await consent();
    await told(await erase(made), { state: 'DELIVERED' });
    expect(await asked(made)).toMatchObject([{ state: 'REQUESTED' }]);
    expect((await here.labAdmin.send('POST', `/subjects/${made.subject}/erasure`)).status).toBe(202);
    await until(async () => expect(await asked(made)).toEqual([]));
    expect(await tablesWith(here.lab, made.subject)).toEqual([]);
  });

  it('is reported as kept if the owner refuses it, and later parts are asked about anew', async () => {
    const subject = nameAnew();
    const id = await erase(await consent({ subject }));
    await told(id, { state: 'DELIVERED' });
    const [request] = await asked({ subject });
    await decide(request?.id, { status: 'REFUSED', ground: 'Kept by law for ten years' });
    await letPass(25);
    await told(id, { state: 'ACKNOWLEDGED', outcome: 'kept' });
    expect(await atLab(subject)).toEqual(['accepted']);
    const again = await erase(await consent({ subject }));
    await told(again, { state: 'DELIVERED' });
    expect((await asked({ subject }))[0]).toMatchObject({ state: 'REQUESTED' });
  });

  it('erases at an owner that follows erasures only what the leader has sent and what was changed since', async () => {
    await setPeer('FOLLOW');
    const made = await consent();
    const { subject } = made;
    const [sent] = (await recordsOf(here.labAdmin, subject))['processing.002'] ?? [];
    const part = (await (await here.labAdmin.get(`/consents/${sent?.transaction}`)).json()) as Transaction;
    const started = await fetch(part.links?.child as string, {
      method: 'POST',
      headers: { Accept: 'application/json' },
    });
    const child = (await started.json()) as Asked;
    const changed = await subjectOf(here.lab, child).submit({
      'element/processing/processing.002/1.0': ['refused'],
    });
    expect(changed.status).toBe(200);
    const context = { subject, object: 'of its own', layoutData: { elements: ['processing.002'] } };
    const separate = await createTransaction(here.labAdmin, context);
    const answers = { 'element/processing/processing.002/1.0': ['accepted'] };
    expect((await subjectOf(here.lab, separate).submit(answers)).status).toBe(200);
    const id = await erase(made);
    const rest = () =>
      rowsOf(here.lab, 'SELECT t.id FROM transactions.transactions AS t WHERE t.subject = $1', [subject]);
    await until(async () => expect(await rest()).toEqual([{ id: separate.id }]));
    const lines = () =>
      rowsOf<{ action: string; actor: string }>(
        here.lab,
        `SELECT l.action, l.actor FROM transactions.audit_log AS l
          WHERE l.action LIKE '%eras%' AND l.target = 'subject/' || (
                SELECT e.reference FROM transactions.erasures AS e ORDER BY e.created_at DESC LIMIT 1)
          ORDER BY l.at`,
      );
    await until(async () => expect(await lines()).toHaveLength(2));
    expect(await lines()).toEqual([
      { action: 'erasure.started', actor: 'accord' },
      { action: 'subject.erased', actor: 'accord' },
    ]);
    await letPass(25);
    await told(id, { state: 'ACKNOWLEDGED', outcome: 'done' });
  });

  it('puts no consent in force again that the person has withdrawn, although the withdrawal is erased', async () => {
    await setPeer('FOLLOW');
    const subject = nameAnew();
    const context = { subject, layoutData: { elements: ['processing.002'] } };
    const separate = await createTransaction(here.labAdmin, context);
    const answers = { 'element/processing/processing.002/1.0': ['accepted'] };
    expect((await subjectOf(here.lab, separate).submit(answers)).status).toBe(200);
    const made = await consent({ subject });
    const [sent] = (await recordsOf(here.labAdmin, subject))['processing.002'] ?? [];
    const withdrawn = await here.labAdmin.send('POST', `/consents/${sent?.transaction}/withdraw`);
    expect(withdrawn.status).toBe(201);
    const decided = async () => {
      const query = `subject=${encodeURIComponent(subject)}&element=processing.002`;
      return (await here.labAdmin.get(`/decisions?${query}`)).json();
    };
    expect(await decided()).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
    await erase(made);
    const rest = () =>
      rowsOf(here.lab, 'SELECT t.id FROM transactions.transactions AS t WHERE t.subject = $1', [subject]);
    await until(async () => expect(await rest()).toEqual([{ id: separate.id }]));
    expect(await decided()).toMatchObject({ allowed: false, reason: 'NO_ANSWER' });
  });

  it('puts no consent in force again that the person has refused, although later answers are erased with it', async () => {
    await setPeer('FOLLOW');
    const subject = nameAnew();
    const own = { subject, layoutData: { elements: ['processing.002'] } };
    const answer = async (
      admin: Caller,
      context: Record<string, unknown>,
      answers: Record<string, string[]>,
    ) => {
      const made = await createTransaction(admin, context);
      const instance = admin === here.labAdmin ? here.lab : here.clinic;
      expect((await subjectOf(instance, made).submit(answers)).status).toBe(200);
      return made;
    };
    const separate = await answer(here.labAdmin, own, {
      'element/processing/processing.002/1.0': ['accepted'],
    });
    const elements = ['processing.001', here.theirs];
    const refusal = { [ownQuestion]: ['accepted'], [`element/processing/${here.theirs}/1.0`]: ['refused'] };
    await here.delivered(await answer(here.clinicAdmin, { subject, layoutData: { elements } }, refusal));
    const made = await consent({ subject, validity: 'P5M' });
    // With a child it is erased after the part with the refusal.
    const [sent] = (await recordsOf(here.labAdmin, subject))['processing.002'] ?? [];
    expect((await here.labAdmin.send('POST', `/consents/${sent?.transaction}/child`)).status).toBe(201);
    await erase(made);
    const rest = () =>
      rowsOf(here.lab, 'SELECT t.id FROM transactions.transactions AS t WHERE t.subject = $1', [subject]);
    await until(async () => expect(await rest()).toEqual([{ id: separate.id }]));
    const query = `subject=${encodeURIComponent(subject)}&element=processing.002`;
    const decision = await (await here.labAdmin.get(`/decisions?${query}`)).json();
    expect(decision).toMatchObject({ allowed: false, reason: 'NO_ANSWER' });
  });

  it('waits at the owner while a hold is in force there, and restricts nothing for the leader', async () => {
    await setPeer('FOLLOW');
    const made = await consent();
    const hold = await here.labAdmin.send('PUT', `/subjects/${made.subject}/hold`, { reason: 'A claim' });
    expect(hold.status).toBe(200);
    await told(await erase(made), { state: 'DELIVERED' });
    const [held] = await asked(made);
    expect(held).toMatchObject({ state: 'HELD' });
    const decided = await here.labAdmin.send('POST', '/decisions', {
      subject: made.subject,
      questions: [{ element: 'processing.002' }],
    });
    expect(await decided.json()).toMatchObject({ decisions: [{ allowed: true, reason: 'GIVEN' }] });
    expect((await here.labAdmin.send('DELETE', `/subjects/${made.subject}/hold`)).status).toBe(204);
    await doneAtLab(held?.id);
  });

  it('is requested for a part that was dropped here while its owner held it', async () => {
    await setPeer('FOLLOW');
    here.way.behave('reply lost');
    const made = await here.consent({ subject: nameAnew(), peerCommit: 'together' });
    await until(async () => expect(await tablesWith(here.lab, made.subject)).not.toEqual([]));
    expect((await here.clinicAdmin.send('POST', `/consents/${made.id}/cancel`)).status).toBe(200);
    expect(await here.partOf(made)).toMatchObject({ state: 'DROPPED' });
    here.way.behave('well');
    await here.letWaitsPass();
    const id = await erase(made);
    await until(async () => expect(await tablesWith(here.lab, made.subject)).toEqual([]));
    await letPass(25);
    await told(id, { state: 'ACKNOWLEDGED', outcome: 'done' });
  });

  it('asks no owner about a part that was never sent', async () => {
    const made = await here.consent({ subject: nameAnew(), confirmation: 'FORM_CODE' });
    expect((await here.clinicAdmin.send('POST', `/consents/${made.id}/cancel`)).status).toBe(200);
    const id = await erase(made);
    await until(async () =>
      expect(await erasureAt(here.clinicAdmin, id)).toMatchObject({ state: 'DONE', peers: [] }),
    );
  });

  it('is one erasure at the owner if requests for several parts arrive at once', async () => {
    await setPeer('FOLLOW');
    const subject = nameAnew();
    for (const object of ['', 'one', 'two', 'three']) await consent({ subject, ...(object && { object }) });
    const id = await erase({ subject });
    await until(async () => expect(await tablesWith(here.lab, subject)).toEqual([]));
    await letPass(25);
    await told(id, { state: 'ACKNOWLEDGED', outcome: 'done' });
  });
});

describe('an owner that is away', () => {
  it('is OVERDUE after 72 hours; a part that it never got is refused when it comes', async () => {
    here.way.behave('down');
    const made = await here.consent({ subject: nameAnew() });
    const id = await erase(made);
    await told(id, { state: 'QUEUED' });
    await letPass(72);
    await told(id, { state: 'OVERDUE' });
    here.way.behave('well');
    await here.letWaitsPass();
    await told(id, { state: 'ACKNOWLEDGED', outcome: 'done' });
    const [known] = await rowsOf<object>(
      here.lab,
      'SELECT s.verdict, s.transaction FROM transactions.received_parts AS s ORDER BY s.received_at DESC LIMIT 1',
    );
    expect(known).toEqual({ verdict: 'rolledback', transaction: null });
    expect(await tablesWith(here.lab, made.subject)).toEqual([]);
  });

  it('is asked daily for 40 days while it has not decided, then it is OVERDUE', async () => {
    const id = await erase(await consent());
    await told(id, { state: 'DELIVERED' });
    const askedTimes = () =>
      rowsOf<{ times: number }>(
        here.clinic,
        `SELECT extract(epoch FROM n.due_at - n.created_at)::float8 AS times
           FROM transactions.notices AS n WHERE n.erasure = $1`,
        [id],
      );
    await letPass(25);
    await until(async () => expect((await askedTimes())[0]?.times).toBeGreaterThan(48 * 3_600));
    await told(id, { state: 'DELIVERED' });
    await letPass(40 * 24);
    await told(id, { state: 'OVERDUE' });
  });
});
