import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createAnnouncer } from '../../services/peers/jobs/announce.ts';
import { markSent, scheduleSoon } from '../../services/peers/queries/catalogues.ts';
import { markKeyKnown } from '../../services/peers/queries/peer-keys.ts';
import { type PeersService, startPeers } from '../support/instances/peers-service.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { patience } from '../support/run/patience.ts';
import { makeActive, sampleContent } from '../support/samples/forms-models.ts';

let here: PeersService;
let study: { id: string };
const partners: Record<'clinic' | 'lab', { peer: OwnPeer; id: string }> = {} as never;
beforeAll(async () => {
  here = await startPeers();
  study = await makeActive(here.forms, 'processing', sampleContent.processing, 'study');
  for (const name of ['clinic', 'lab'] as const) {
    const peer = await startOwnPeer();
    partners[name] = { peer, id: await here.pairWith(peer) };
  }
}, 60_000);
afterAll(async () => {
  for (const { peer } of Object.values(partners)) await peer.close();
  await here?.stop();
});

const kid = 'our-current-key';
/** Addresses of those that were told, in order. */
let told: string[];
let answer: (url: string) => Promise<{ status: number }>;
let announcer: ReturnType<typeof createAnnouncer>;
beforeEach(async () => {
  told = [];
  answer = async () => ({ status: 204 });
  const client = {
    send: async ({ method, url, path }: { method: string; url: string; path: string }) => {
      expect([method, path]).toEqual(['POST', '/federation/ping']);
      told.push(url);
      return { ...(await answer(url)), content: undefined };
    },
  };
  announcer = createAnnouncer({
    db: here.db,
    client,
    forms: here.forms.operations,
    log: createLogger({ level: 'silent' }),
    kid,
  });
  await share({ shared: false });
  await letAllLook();
});
afterEach(() => announcer.stop());

const share = (json: object) =>
  here.forms.send(`/models/${study.id}`, {
    method: 'PUT',
    json: { name: 'A study', sharedWith: [], ...json },
  });
/** Each partner has what there is for it. */
async function letAllLook(): Promise<void> {
  for (const { id } of Object.values(partners)) {
    const { state } = await here.forms.operations.sharedEntries({
      peer: id,
      after: '',
      known: null,
      limit: 1,
    });
    await markSent(here.db, id, state);
    await markKeyKnown(here.db, id, kid);
  }
}
const urlOf = (name: 'clinic' | 'lab') => partners[name].peer.url;

describe('a change of the catalogue', () => {
  it('is announced only to the peers that it concerns', async () => {
    await share({ shared: true, sharedWith: [partners.lab.id] });
    announcer.announce();
    await vi.waitFor(() => expect(told).toEqual([urlOf('lab')]), patience);
    await letAllLook();
    await share({ shared: true });
    announcer.announce();
    await vi.waitFor(() => expect(told).toContain(urlOf('clinic')), patience);
  });

  it('causes an event, also if only the sharing has changed', async () => {
    const before = here.forms.events.length;
    await share({ shared: true });
    await vi.waitFor(
      () =>
        expect(here.forms.events.slice(before).map(({ type, subject }) => [type, subject])).toContainEqual([
          'io.accord.model.shared.v1',
          study.id,
        ]),
      patience,
    );
  });

  it('is not announced if no catalogue has changed', async () => {
    announcer.announce();
    await share({ shared: true, sharedWith: [partners.lab.id] });
    announcer.announce();
    await vi.waitFor(() => expect(told).toEqual([urlOf('lab')]), patience);
  });

  it('is announced at most once a second', async () => {
    await share({ shared: true, sharedWith: [partners.lab.id] });
    const begun = performance.now();
    const gaps: number[] = [];
    answer = async () => {
      gaps.push(performance.now() - begun);
      return { status: 204 };
    };
    // The partner does not look meanwhile: every change is news.
    await vi.waitFor(
      () => {
        announcer.announce();
        expect(told.length).toBeGreaterThanOrEqual(3);
      },
      { timeout: 10_000, interval: 10 },
    );
    expect((gaps[2] as number) - (gaps[0] as number)).toBeGreaterThan(1_900);
  });

  it('is announced to other peers while one does not answer or rejects it', async () => {
    await share({ shared: true });
    answer = (url) => (url === urlOf('lab') ? new Promise(() => {}) : Promise.resolve({ status: 500 }));
    announcer.announce();
    await vi.waitFor(() => expect(told).toHaveLength(2), patience);
    announcer.announce();
    await vi.waitFor(() => expect(told.filter((url) => url === urlOf('clinic'))).toHaveLength(2), {
      timeout: 5_000,
    });
    expect(told.filter((url) => url === urlOf('lab'))).toHaveLength(1);
  });

  it('is not announced twice to a peer that learns our current key by the same ping', async () => {
    await here.db.query(sql`UPDATE peers SET knows_kid = 'former' WHERE id = ${partners.lab.id}`);
    await announcer.runOnce();
    await vi.waitFor(() => expect(told).toEqual([urlOf('lab')]), patience);
    const known = sql`SELECT p.knows_kid AS kid FROM peers AS p WHERE p.id = ${partners.lab.id}`;
    await vi.waitFor(async () => expect(await here.db.one(known)).toEqual({ kid }), patience);
    await announcer.runOnce();
    await share({ shared: true, sharedWith: [partners.clinic.id] });
    announcer.announce();
    await vi.waitFor(() => expect(told).toEqual([urlOf('lab'), urlOf('clinic')]), patience);
  });

  it('is not announced again after a failed ping', async () => {
    await share({ shared: true, sharedWith: [partners.lab.id] });
    answer = () => Promise.reject(new Error('nobody is there'));
    announcer.announce();
    await vi.waitFor(() => expect(told).toHaveLength(1), patience);
  });
});

it('a peer that announces changes all the time is read at most once a second', async () => {
  const due = async () =>
    here.db.one<{ wait: number; since: number }>(sql`
      SELECT extract(epoch FROM c.due_at - accord_now())::float8 AS wait, extract(epoch FROM c.due_at - c.began_at)::float8 AS since
        FROM catalogues AS c WHERE c.url = ${urlOf('lab')}`);
  await here.db.query(sql`
    UPDATE catalogues SET began_at = accord_now(), due_at = accord_now() + interval '50 seconds'`);
  for (let times = 0; times < 20; times += 1) await scheduleSoon(here.db, urlOf('lab'));
  expect((await due()).since).toBe(1);
  await here.db.query(sql`UPDATE catalogues SET began_at = accord_now() - interval '1 minute'`);
  await scheduleSoon(here.db, urlOf('lab'));
  expect((await due()).wait).toBeLessThanOrEqual(0);
});
