import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import type { ReportedVerdict } from '../../../services/transactions/sent-parts/notice.ts';
import { showCatalogue, signEntry } from '../peers/own-catalogue.ts';
import { type OwnPeer, startOwnPeer } from '../peers/peer-of-our-own.ts';
import { sampleContent } from '../samples/forms-models.ts';
import { type Caller, signIn } from './callers.ts';
import { startTestInstance, type TestInstance } from './instance.ts';
import { rowsOf, runInDatabase } from './live-database.ts';
import { keepEvents } from './live-events.ts';
import { letter, subjectOf } from './live-subject.ts';
import { createTransaction, type LiveTransaction } from './live-transactions.ts';

type Follower = components['schemas']['Follower'];

/**
 * A partner that a test plays; it shares a question (`study`), a preference (`wishes`, free text), a notice
 * (`booking`) and its information.
 */
export interface LedPartner extends OwnPeer {
  /** An identifier as this instance's forms have it. */
  asked(key: SharedKey, serial?: string): string;
  /** As layouts name it. */
  named(key: SharedKey): string;
}

type SharedKey = 'study' | 'wishes' | 'booking';

/** What a partner said of a part, as the service peers tells it. */
export interface Outcome {
  /** Default: the part. */
  about?: ReportedVerdict['about'];
  verdict: ReportedVerdict['verdict'];
  reason?: string;
  id?: string;
  /** Another partner's part. */
  submission?: string;
  /** Of an event that has come before. */
  eventId?: string;
}

/** An instance that shows the form, and two partners that answers go to. */
export interface LeadingInstance extends TestInstance {
  operator: Caller;
  /** Of the service transactions. */
  db: Database;
  lab: LedPartner;
  clinic: LedPartner;
  /** The part of a transaction that a partner owns, as it is stored. */
  partOf(transaction: { id: string }, partner: OwnPeer): Promise<StoredPart>;
  /** Tells what a partner said of its part, and waits until it has been applied. @returns the event's id. */
  say(transaction: { id: string }, partner: OwnPeer, outcome: Outcome): Promise<string>;
  /** As the operator gets it. */
  followersOf(transaction: { id: string }): Promise<{ state: string; followers: Follower[] }>;
  /** Events of a topic about a part, in the order of their writing. */
  toldOf(sid: string): Promise<{ type: string; data: Record<string, unknown> }[]>;
}

export interface StoredPart {
  sid: string;
  state: string;
  sealed: string | null;
  mode: string;
  shown: object;
  deadline: Date;
}

/** Starts it. The partners take nothing: what they say of their parts are events that the test writes. */
export async function startLeading(environment: Record<string, string> = {}): Promise<LeadingInstance> {
  const instance = await startTestInstance(environment);
  await keepEvents(instance);
  const admin = await signIn(instance, 'admin');
  const operator = await signIn(instance, 'operator');
  const [lab, clinic] = await Promise.all([newPartner('Northern Lab'), newPartner('Lakeside Clinic')]);
  for (const partner of [lab, clinic]) {
    const paired = await admin.send('POST', '/peers', {
      url: partner.url,
      apiKey: 'of-the-partner',
      withCounterPart: true,
    });
    if (!paired.ok) throw new Error(`they do not pair: ${await paired.text()}`);
  }
  await vi.waitFor(
    async () => {
      const elements = [lab, clinic].flatMap((partner) => [partner.named('study'), partner.named('wishes')]);
      const page = await operator.send('POST', '/consents/preview', { layoutData: { elements } });
      if (!page.ok) throw new Error('the catalogues have not come');
    },
    { timeout: 20_000, interval: 50 },
  );
  const partOf: LeadingInstance['partOf'] = async ({ id }, { url }) => {
    const [part] = await rowsOf<StoredPart>(
      instance,
      'SELECT sid, state, sealed, mode, shown, deadline FROM transactions.sent_parts WHERE transaction = $1 AND location = $2',
      [id, url],
    );
    if (!part) throw new Error('the partner has no part');
    return part;
  };
  const log = createLogger({ level: 'silent' });
  const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
  return {
    ...instance,
    operator,
    lab,
    clinic,
    partOf,
    db: createDatabase({ pool }),
    async say(transaction, partner, { eventId = randomUUID(), ...outcome }) {
      const { sid } = await partOf(transaction, partner);
      await tell(instance, eventId, { submission: sid, peer: partner.url, about: 'part', ...outcome });
      return eventId;
    },
    followersOf: async ({ id }) => (await operator.get(`/consents/${id}`)).json() as never,
    async toldOf(sid) {
      const rows = await rowsOf<{ event: { type: string; data: Record<string, unknown> } }>(
        instance,
        `SELECT event FROM transactions.kept_events WHERE topic = 'accord.peer-submissions' AND key = $1 ORDER BY id`,
        [sid],
      );
      return rows.map(({ event: { type, data } }) => ({ type, data }));
    },
    async stop() {
      await Promise.all([lab.close(), clinic.close(), pool.end()]);
      await instance.stop();
    },
  };
}

/**
 * Writes an outcome as the service peers does, and waits until it has left the outbox: then it has been
 * applied.
 */
async function tell(instance: TestInstance, id: string, data: Record<string, unknown>): Promise<void> {
  const event = {
    id,
    type: 'io.accord.submission.answered.v1',
    source: instance.url,
    subject: data.submission,
    time: new Date().toISOString(),
    data,
  };
  await runInDatabase(
    instance,
    `INSERT INTO peers.outbox (event_id, topic, key, event) VALUES ($1, 'accord.peer-outcomes', $2, $3)`,
    [id, data.submission, event],
  );
  await vi.waitFor(
    async () => {
      const left = await rowsOf(instance, 'SELECT id FROM peers.outbox WHERE event_id = $1', [id]);
      if (left.length > 0) throw new Error('the outcome has not been applied');
    },
    { timeout: 15_000, interval: 25 },
  );
}

async function newPartner(name: string): Promise<LedPartner> {
  const peer = await startOwnPeer();
  const describe = peer.describe;
  peer.describe = (changes, signedBy) => describe({ name, ...changes }, signedBy);
  const catalogue = showCatalogue(peer);
  const information = { key: 'about.us', type: 'information', name } as const;
  const wishes = { label: 'Wishes', valueType: 'FREE_TEXT', optional: true };
  catalogue.entries = await Promise.all([
    signEntry(peer, { ...information, data: { en: { title: `About ${name}` } } }),
    signEntry(peer, { data: { en: { ...sampleContent.processing, title: `A study of ${name}` } } }),
    signEntry(peer, { key: 'booking', data: { en: { ...sampleContent.processing, refusable: false } } }),
    signEntry(peer, { key: 'wishes', type: 'preference', name: 'Wishes', data: { en: wishes } }),
  ]);
  const { host } = new URL(peer.url);
  const named = (key: string) => `${key}@${host}`;
  return Object.assign(peer, {
    named,
    asked: (key: SharedKey, serial = '1.0') =>
      `element/${key === 'wishes' ? 'preference' : 'processing'}/${named(key)}/${serial}`,
  });
}

/** What a layout with a question of our own and of each partner names. */
export function questionsOf({ lab, clinic }: LeadingInstance): string[] {
  return ['processing.001', lab.named('study'), clinic.named('study')];
}

/** A transaction in which somebody has said yes to all of {@link questionsOf}. */
export async function answered(here: LeadingInstance, context: object = {}): Promise<LiveTransaction> {
  const made = await createTransaction(here.operator, {
    ...context,
    layoutData: { elements: questionsOf(here) },
  });
  const theirs = [here.lab, here.clinic].map((partner) => [partner.asked('study'), ['accepted']] as const);
  await subjectOf(here, made).submit({ [letter]: ['accepted'], ...Object.fromEntries(theirs) });
  return made;
}

/** The page of a transaction as its subject sees it. */
export async function pageOf(instance: TestInstance, { id, token }: LiveTransaction): Promise<string> {
  const page = await instance.fetch(`/consents/${id}?t=${encodeURIComponent(token)}`, {
    headers: { Accept: 'text/html' },
  });
  return page.text();
}
