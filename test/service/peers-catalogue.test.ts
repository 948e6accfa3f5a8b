import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import { sql } from '#lib/db/sql.ts';
import { removePeer } from '../../services/peers/commands/end-pairing.ts';
import { findPeer } from '../../services/peers/queries/peers.ts';
import { type PeersService, startPeers } from '../support/instances/peers-service.ts';
import { type OwnCatalogue, sendPage, showCatalogue, signEntry } from '../support/peers/own-catalogue.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { patience } from '../support/run/patience.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

let here: PeersService;
beforeAll(async () => {
  here = await startPeers();
}, 60_000);
afterAll(() => here?.stop());

interface Partner {
  peer: OwnPeer;
  id: string;
  catalogue: OwnCatalogue;
}
let partners: Partner[] = [];
async function newPartner(): Promise<Partner> {
  const peer = await startOwnPeer();
  const catalogue = showCatalogue(peer);
  const partner = { peer, catalogue, id: await here.pairWith(peer) };
  partners.push(partner);
  return partner;
}
/** What removing a peer takes. */
const removalDependencies = () => ({
  db: here.db,
  baseUrl: 'http://here.test',
  client: { send: async () => ({}) },
  auth: { spendPairingKeys: async () => ({}) },
  afterPairingChange: async () => {},
});
let lab: Partner;
beforeEach(async () => {
  lab = await newPartner();
  lab.catalogue.entries = [await signEntry(lab.peer)];
});
afterEach(async () => {
  for (const { id, peer } of partners) {
    await removePeer(removalDependencies() as never, id).catch(() => {});
    await peer.close();
  }
  partners = [];
  await here.catalogues.runOnce();
});

/** A minute later. */
async function letMinutePass(): Promise<void> {
  await here.db.query(sql`UPDATE catalogues SET due_at = accord_now()`);
  await here.catalogues.runOnce();
}
/** What a self-description says. */
interface Described {
  [claim: string]: unknown;
  name: string;
  jwks: { keys: { use: string; x: string }[] };
}
function renamed(peer: OwnPeer, name: string): void {
  const { describe: describeIt } = peer;
  peer.describe = (changes, signedBy) => describeIt({ name, ...changes }, signedBy);
}
/** What the copy of a partner's catalogue holds. */
async function copyOf({ peer }: Partner): Promise<Record<string, string>> {
  const rows = await here.forms.db.query<{ key: string; serial: string }>(sql`
    SELECT e.key, e.active_major || '.' || e.active_minor AS serial FROM peer_entries AS e
     WHERE e.peer = ${peer.url} ORDER BY e.key`);
  return Object.fromEntries(rows.map(({ key, serial }) => [key, serial]));
}
const catalogueRow = ({ peer }: Partner) =>
  here.db.maybeOne<{ state: string | null; failures: number; wait: number }>(sql`
    SELECT c.state, c.failures, extract(epoch FROM c.due_at - accord_now())::float8 AS wait
      FROM catalogues AS c WHERE c.url = ${peer.url}`);
const several = (count: number, partner = lab) =>
  Promise.all(
    Array.from({ length: count }, (_, index) => signEntry(partner.peer, { key: `study.${index}` })),
  );

describe('a catalogue', () => {
  it('is read right after pairing, in pages, and then only if it has changed', async () => {
    lab.catalogue.entries = await several(45);
    await here.catalogues.runOnce();
    expect(Object.keys(await copyOf(lab))).toHaveLength(45);
    expect(lab.catalogue.asked).toEqual(['', '?cursor=20', '?cursor=40']);
    await letMinutePass();
    expect(lab.catalogue.asked.slice(3)).toEqual(['?since=first']);
    expect(Object.keys(await copyOf(lab))).toHaveLength(45);
    const shown = await findPeer(here.db, lab.id);
    expect(shown).toMatchObject({ catalogueSize: 45, catalogueReadAt: expect.any(Date) });
  });

  it('is read about once a minute, at different times by different processes', async () => {
    await here.catalogues.runOnce();
    await here.catalogues.runOnce();
    expect(lab.catalogue.asked).toHaveLength(1);
    const { wait } = (await catalogueRow(lab)) ?? { wait: 0 };
    expect(wait).toBeGreaterThan(40);
    expect(wait).toBeLessThanOrEqual(60);
  });

  it('updates the copy: new, changed and removed entries', async () => {
    lab.catalogue.entries = [await signEntry(lab.peer), await signEntry(lab.peer, { key: 'old' })];
    await here.catalogues.runOnce();
    lab.catalogue.state = 'second';
    lab.catalogue.entries = [
      await signEntry(lab.peer, { serial: '1.1' }),
      await signEntry(lab.peer, { key: 'new', serial: '3.4' }),
    ];
    await letMinutePass();
    expect(await copyOf(lab)).toEqual({ study: '1.1', new: '3.4' });
  });

  it('may be empty', async () => {
    await here.catalogues.runOnce();
    Object.assign(lab.catalogue, { state: 'empty', entries: [] });
    await letMinutePass();
    expect(await copyOf(lab)).toEqual({});
    expect(await catalogueRow(lab)).toMatchObject({ state: 'empty', failures: 0 });
  });

  it('that changes between two pages is read again from the start', async () => {
    lab.catalogue.entries = await several(30);
    lab.catalogue.instead = async (_response, search) => {
      if (search.get('cursor') !== '20' || lab.catalogue.state === 'second') return false;
      lab.catalogue.state = 'second';
      lab.catalogue.entries = [await signEntry(lab.peer)];
      return false;
    };
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
    expect(await catalogueRow(lab)).toMatchObject({ state: 'second' });
  });

  it('is read whole again when the copy was lost', async () => {
    await here.catalogues.runOnce();
    await here.forms.operations.forgetPeer({ url: lab.peer.url });
    await letMinutePass();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
    expect(lab.catalogue.asked).toEqual(['', '?since=first', '']);
  });

  it('is forgotten when the pairing ends, and read anew after the next', async () => {
    await here.catalogues.runOnce();
    await removePeer(removalDependencies() as never, lab.id);
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({});
    expect(await catalogueRow(lab)).toBeUndefined();
    lab.id = await here.pairWith(lab.peer);
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });

  it.each<[string, (peer: OwnPeer) => void]>([
    ['sealing key', (peer) => Object.assign(peer, { sealing: readPrivateKey(generatePrivateKey()) })],
    ['name', (peer) => renamed(peer, 'Another name')],
  ])('is read again when its peer has another %s, so that forms knows it', async (_what, change) => {
    await here.catalogues.runOnce();
    const known = () =>
      here.forms.db.one<{ name: string; x: string }>(sql`
        SELECT p.name, p.sealing_key->>'x' AS x FROM peers AS p WHERE p.url = ${lab.peer.url}`);
    const before = await known();
    change(lab.peer);
    const { jwks, name } = decodeJwt<Described>(await lab.peer.describe());
    const described = { name, x: jwks.keys.find(({ use }) => use === 'enc')?.x };
    expect(described).not.toEqual(before);
    await here.db.query(sql`UPDATE peers SET described_at = accord_now() - interval '20 minutes'`);
    await letMinutePass();
    await letMinutePass();
    expect(await known()).toEqual(described);
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });

  it('is not read while the keys of its peer wait for confirmation; the copy stays', async () => {
    await here.catalogues.runOnce();
    await here.db.query(sql`UPDATE peers SET state = 'QUARANTINED' WHERE id = ${lab.id}`);
    await letMinutePass();
    expect(lab.catalogue.asked).toHaveLength(1);
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });

  it('is read again when a pinned key of its peer signs the description again, without an administrator', async () => {
    await here.catalogues.runOnce();
    const lastContactAt = (await findPeer(here.db, lab.id))?.lastContactAt;
    const pinned = lab.peer.keys;
    const foreign = readPrivateKey(generatePrivateKey());
    const letTenMinutesPass = async () => {
      await here.db.query(sql`UPDATE peers SET described_at = accord_now() - interval '10 minutes'`);
      await letMinutePass();
      return findPeer(here.db, lab.id);
    };
    for (const keys of [[foreign], [foreign, ...pinned]]) {
      lab.peer.keys = keys;
      const describeIt = lab.peer.describe;
      lab.peer.describe = (changes, signedBy = foreign) => describeIt(changes, signedBy);
      expect(await letTenMinutesPass()).toMatchObject({ state: 'QUARANTINED', lastContactAt });
      lab.peer.describe = describeIt;
    }
    expect(lab.catalogue.asked).toHaveLength(1);
    lab.peer.keys = pinned;
    expect(await letTenMinutesPass()).toMatchObject({ state: 'PAIRED', announced: null });
    expect(lab.catalogue.asked).toHaveLength(2);
  });
});

describe('invalid documents', () => {
  const foreign = readPrivateKey(generatePrivateKey());
  const none = (jws: string) => {
    const [, payload] = jws.split('.');
    const header = { alg: 'none', typ: 'accord-model+jwt' };
    return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.`;
  };
  const cases: [string, () => Promise<string> | string, string][] = [
    ['a foreign key', () => signEntry(lab.peer, { key: 'bad' }, { key: foreign }), 'unknown-key'],
    [
      'a foreign key in the name of the pinned one',
      () =>
        signEntry(lab.peer, { key: 'bad' }, { key: { ...foreign, kid: lab.peer.keys[0]?.kid as string } }),
      'signature',
    ],
    ['its sealing key', () => signEntry(lab.peer, { key: 'bad' }, { key: lab.peer.sealing }), 'unknown-key'],
    ['no algorithm', async () => none(await signEntry(lab.peer, { key: 'bad' })), 'unknown-key'],
    [
      'the type of a request',
      () => signEntry(lab.peer, { key: 'bad' }, { header: { typ: 'accord-peer+jwt' } }),
      'algorithm',
    ],
    ['the type JWT', () => signEntry(lab.peer, { key: 'bad' }, { header: { typ: 'JWT' } }), 'algorithm'],
    ['no kid', () => signEntry(lab.peer, { key: 'bad' }, { header: { kid: undefined } }), 'unknown-key'],
    [
      'another peer’s name',
      () => signEntry(lab.peer, { key: 'bad', iss: 'https://other.example' }),
      'issuer',
    ],
    ['nobody’s name', () => signEntry(lab.peer, { key: 'bad', iss: undefined }), 'issuer'],
    ['a list of names', () => signEntry(lab.peer, { key: 'bad', iss: [lab.peer.url] }), 'issuer'],
    [
      'a changed content',
      async () =>
        (await signEntry(lab.peer, { key: 'bad' })).replace(/\.(.)/, (_, c) => `.${c === 'e' ? 'f' : 'e'}`),
      'signature',
    ],
    ...Object.entries({
      'a NUL in a text': { data: { en: { ...sampleContent.processing, title: 'a\0b' } } },
      'half a character in a text': { data: { en: { ...sampleContent.processing, title: 'a\ud800b' } } },
      'a NUL in its name': { name: 'a\0b' },
      'half a character in the name of a member': { data: { en: { 'a\udc00b': 'x' } } },
    }).map(([what, content]): (typeof cases)[number] => [
      what,
      () => signEntry(lab.peer, { key: 'bad', ...content }),
      'content',
    ]),
    ['no JSON', () => signEntry(lab.peer, {}, { payload: 'no JSON' }), 'claims'],
    ['null', () => signEntry(lab.peer, {}, { payload: 'null' }), 'claims'],
    ['no JWS', () => 'no JWS', 'form'],
    ['nothing', () => '', 'form'],
    ['2 MiB and one character', () => 'x'.repeat(2 * 2 ** 20 + 1), 'size'],
  ];
  it.each(cases)('with %s are left out and logged, the others are kept', async (_what, make, fault) => {
    lab.catalogue.entries = [await make(), ...lab.catalogue.entries];
    const before = here.logs().length;
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
    expect(here.logs().slice(before)).toContain(`"code":"${fault}"`);
  });

  it('signed by another of our peers are skipped', async () => {
    const other = await newPartner();
    other.catalogue.entries = [];
    lab.catalogue.entries.push(await signEntry(other.peer, { key: 'bad' }));
    lab.catalogue.entries.push(await signEntry(other.peer, { key: 'worse', iss: lab.peer.url }));
    await here.catalogues.runOnce();
    expect([await copyOf(lab), await copyOf(other)]).toEqual([{ study: '1.0' }, {}]);
  });

  it('of 2 MiB are read, and their contents are checked by the rules for our own', async () => {
    const filler = { en: { ...sampleContent.processing, title: 'x'.repeat(1_400_000) } };
    lab.catalogue.entries.push(await signEntry(lab.peer, { key: 'long', data: filler }));
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });

  it('signed by a new key count when a known key vouches for it', async () => {
    const [old] = lab.peer.keys as [(typeof lab.peer.keys)[number]];
    const next = readPrivateKey(generatePrivateKey());
    lab.peer.keys = [next, old];
    lab.catalogue.entries = [await signEntry(lab.peer, {}, { key: next })];
    await here.db.query(sql`UPDATE peers SET described_at = accord_now() - interval '2 minutes'`);
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });

  it('with the key of an earlier one are skipped, on any page', async () => {
    lab.catalogue.pageSize = 1;
    lab.catalogue.entries.push(await signEntry(lab.peer, { serial: '9.9' }));
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });
});

describe('an endless catalogue', () => {
  const logged = () =>
    here
      .logs()
      .split('\n')
      .filter((line) => line.includes('exceeds the limits and was cut'));

  it.each([
    ['pages', [] as string[], 100],
    ['entries', Array.from({ length: 50 }, () => 'x'), 40],
    ['bytes', [`${'x'.repeat(2 ** 20)}`, `${'y'.repeat(2 ** 20)}`, `${'z'.repeat(2 ** 20)}`], 11],
  ])('of %s is cut and logged; the entries before the cut are stored', async (_what, filler, pages) => {
    const before = logged().length;
    lab.catalogue.instead = (response, search) => {
      const page = Number(search.get('cursor') ?? 0);
      const entries = page === 0 ? [...lab.catalogue.entries, ...filler] : filler;
      sendPage(response, { state: 'endless', entries, next: String(page + 1) });
      return true;
    };
    await here.catalogues.runOnce();
    expect(lab.catalogue.asked).toHaveLength(pages);
    expect(logged()).toHaveLength(before + 1);
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
    expect(await catalogueRow(lab)).toMatchObject({ state: 'endless', failures: 0 });
  });

  it('that changes all the time is read again in the next minute', async () => {
    await here.catalogues.runOnce();
    let changes = 0;
    lab.catalogue.instead = (response) => {
      changes += 1;
      sendPage(response, { state: `state ${changes}`, next: 'more' });
      return true;
    };
    await letMinutePass();
    expect(changes).toBeLessThanOrEqual(6);
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
    expect(await catalogueRow(lab)).toMatchObject({ state: 'first', failures: 1 });
  });
});

describe('a peer with unreadable responses', () => {
  const answers: [string, OwnCatalogue['instead']][] = [
    ['with 500', (response) => response.writeHead(500).end()],
    ['with 401, as one whose clock is wrong', (response) => response.writeHead(401).end('{}')],
    ['with somewhere else', (response) => response.writeHead(302, { Location: 'http://localhost:9' }).end()],
    ['with no JSON', (response) => response.writeHead(200).end('<html>')],
    ['with null', (response) => response.writeHead(200).end('null')],
    ['with entries that are none', (response) => sendPage(response, { state: 'x', entries: [7] })],
    ['without entries', (response) => sendPage(response, { state: 'x', entries: null })],
    ['without a state', (response) => sendPage(response, { state: '' })],
    ['with a state as long as a book', (response) => sendPage(response, { state: 'x'.repeat(129) })],
    ['with a number for the next page', (response) => sendPage(response, { state: 'x', next: 7 })],
    [
      'with too long a page',
      (response) => sendPage(response, { state: 'x', entries: ['x'.repeat(4 * 2 ** 20)] }),
    ],
    [
      'with half an answer',
      (response) => response.writeHead(200, { 'Content-Length': 99 }).write('{', () => response.destroy()),
    ],
    ['with nothing', (response) => response.destroy()],
  ];
  it.each(answers)('that answers %s does not change the copy', async (_how, instead) => {
    await here.catalogues.runOnce();
    lab.catalogue.instead = instead;
    await letMinutePass();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
    expect(await catalogueRow(lab)).toMatchObject({ state: 'first', failures: 1 });
    lab.catalogue.instead = () => false;
    await letMinutePass();
    expect(await catalogueRow(lab)).toMatchObject({ state: 'first', failures: 0 });
  });

  it('does not delay the catalogues of other peers', async () => {
    const others = await Promise.all([newPartner(), newPartner()]);
    for (const each of others) each.catalogue.entries = [await signEntry(each.peer)];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    lab.catalogue.instead = () => released.then(() => false);
    const round = here.catalogues.runOnce();
    await vi.waitFor(async () => {
      for (const each of others) expect(await copyOf(each)).toEqual({ study: '1.0' });
    }, patience);
    expect(await copyOf(lab)).toEqual({});
    release();
    await round;
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });

  it('is retried soon after pairing, because it may not have pinned our keys yet', async () => {
    lab.catalogue.instead = (response) => response.writeHead(401).end('{}');
    await here.catalogues.runOnce();
    expect((await catalogueRow(lab))?.wait).toBeLessThanOrEqual(1);
  });
});

describe('replicas', () => {
  it('share the work: each catalogue is read by one of them', async () => {
    const all = [lab, ...(await Promise.all(Array.from({ length: 5 }, newPartner)))];
    await Promise.all([here.catalogues.runOnce(), here.otherReplica.runOnce(), here.otherReplica.runOnce()]);
    expect(all.map(({ catalogue }) => catalogue.asked.length)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('take over the catalogue of a killed process', async () => {
    await here.db.query(sql`
      UPDATE catalogues SET lease = gen_random_uuid(), lease_until = accord_now() + interval '1 minute' WHERE url = ${lab.peer.url}`);
    await here.catalogues.runOnce();
    expect(lab.catalogue.asked).toEqual([]);
    await here.db.query(sql`UPDATE catalogues SET lease_until = accord_now() - interval '1 second'`);
    await here.catalogues.runOnce();
    expect(await copyOf(lab)).toEqual({ study: '1.0' });
  });

  it('read a catalogue again if a change was announced during the read', async () => {
    lab.catalogue.instead = async () => {
      lab.catalogue.instead = () => false;
      await here.db.query(sql`UPDATE catalogues SET asked_again = true`);
      return false;
    };
    await here.catalogues.runOnce();
    expect((await catalogueRow(lab))?.wait).toBeLessThanOrEqual(1);
  });
});
