import { afterAll, beforeAll, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { isCosignature } from '#lib/witness/cosignature.ts';
import { isSignedBy, readNote, readNoteKey } from '#lib/witness/note.ts';
import { openPages } from '../support/console/open-pages.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { letTimePass, runInDatabase } from '../support/instances/live-database.ts';
import { disputesOf, listCheckpoints, setWitness } from '../support/peers/live-witnesses.ts';
import { pairInstances } from '../support/peers/pair-instances.ts';
import { until } from '../support/run/until.ts';

type Peer = components['schemas']['Peer'];

let clinic: TestInstance;
let lab: TestInstance;
let admins: Record<'clinic' | 'lab', Caller>;
let peers: { there: Peer; here: Peer };
beforeAll(async () => {
  [clinic, lab] = await Promise.all([startTestInstance(), startTestInstance()]);
  peers = await pairInstances(clinic, lab);
  admins = { clinic: await signIn(clinic, 'admin'), lab: await signIn(lab, 'admin') };
}, 120_000);
afterAll(() => Promise.all([clinic?.stop(), lab?.stop()]));

const noteOf = async (area: string) => (await admins.clinic.get(`/audit/checkpoints/${area}`)).text();
const keysOf = async (instance: TestInstance) =>
  ((await (await instance.fetch('/.well-known/accord')).json()) as components['schemas']['Instance']).notes;

/** The proof in the console. */
async function shownProof(): Promise<string> {
  const pages = await openPages(clinic, 'admin');
  const html = await (await pages.get('/console/audit')).text();
  await pages.close();
  return /<details class="proof".*?<p class="soft">/s.exec(html)?.[0] ?? '';
}

let minutes = 0;
/** Tries again, two minutes later each time, until it is so. */
const later = <T>(check: () => Promise<T>) =>
  until(async () => {
    minutes += 2;
    await letTimePass(clinic, `${minutes} minutes`, 'peers');
    return check();
  });

it('a head is cosigned by a peer, as soon as both sides have set it', async () => {
  await setWitness(admins.clinic, peers.there, true);
  await later(async () => {
    const { witnesses } = await listCheckpoints(admins.clinic);
    expect(witnesses).toMatchObject([{ name: lab.url, lastError: expect.stringContaining('404') }]);
  });
  await setWitness(admins.lab, peers.here, true);
  const note = await later(async () => {
    const text = await noteOf('auth');
    expect(text).toContain('/witness ');
    return text;
  });
  const read = readNote(note) ?? expect.fail('not a note');
  const [logs, witness] = [await keysOf(clinic), await keysOf(lab)];
  const logKeys = (logs?.logs.auth ?? []).flatMap((key) => readNoteKey(key) ?? []);
  expect(isSignedBy(read, logKeys)).toBe(true);
  const cosigner = readNoteKey(witness?.witness[0] ?? '') ?? expect.fail('no key');
  expect(read.signatures.some(({ line }) => isCosignature(line, read.text, cosigner))).toBe(true);
  expect(read.text.split('\n')[0]).toBe(`${new URL(clinic.url).host}/auth`);
  await later(async () => {
    const { witnesses, values } = await listCheckpoints(admins.clinic);
    expect(witnesses).toEqual([{ name: lab.url, isDisputing: false }]);
    expect(values[0]?.cosignatures?.map(({ area }) => area)).toContain('auth');
  });
  const proof = await shownProof();
  expect(proof).toContain(`<dt>${new URL(lab.url).host}</dt>`);
  expect(proof).toContain('Cosigns');
  expect(proof).not.toContain(' open');
});

it('a log that has grown is cosigned again, and a witness that has forgotten nothing answers 409 to an old size', async () => {
  const before = (await noteOf('auth')).split('\n')[1];
  await createKey(clinic, 'one more');
  await later(async () => {
    const note = await noteOf('auth');
    expect(Number(note.split('\n')[1])).toBeGreaterThan(Number(before));
    expect(note).toContain('/witness ');
  });
  const note = (await noteOf('auth'))
    .split('\n')
    .filter((line) => !line.includes('/witness '))
    .join('\n');
  const ask = (body: string) =>
    lab.fetch('/federation/witness/add-checkpoint', {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body,
    });
  const stale = await ask(`old 0\n\n${note}`);
  expect(stale.status).toBe(409);
  expect(stale.headers.get('content-type')).toContain('text/x.tlog.size');
  expect(await stale.text()).toBe(`${note.split('\n')[1]}\n`);
  // As after a witness that was killed before it could answer.
  const again = await ask(`old ${note.split('\n')[1]}\n\n${note}`);
  expect(again.status).toBe(200);
  expect(await again.text()).toMatch(/^— \S+\/witness \S+\n$/);
  expect((await ask(`old 0\n\n${note.replace('/auth\n', '/other\n')}`)).status).toBe(403);
  expect((await ask(`old 0\n\n${note.replace('localhost', 'elsewhere')}`)).status).toBe(404);
  expect((await ask('old 0\n')).status).toBe(400);
  expect(await disputesOf(admins.lab)).toEqual([]);
});

it('another history is refused by the witness, and both logs name both heads', async () => {
  await runInDatabase(
    clinic,
    `UPDATE auth.audit_tree SET frontier = overlay(frontier placing decode(repeat('07', 32), 'hex') from 1 for 32)`,
  );
  await createKey(clinic, 'after the fork');
  await later(async () =>
    expect((await listCheckpoints(admins.clinic)).witnesses?.[0]?.isDisputing).toBe(true),
  );
  const lines = await Promise.all([disputesOf(admins.clinic), disputesOf(admins.lab)]);
  expect(lines.map(([line]) => line?.target)).toEqual([`peer/${peers.there.id}`, `peer/${peers.here.id}`]);
  const [here, there] = lines.map(([line]) => JSON.parse(line?.outcome ?? '{}'));
  expect(here).toEqual(there);
  expect(here).toEqual({
    origin: `${new URL(clinic.url).host}/auth`,
    known: { size: expect.any(Number), root: expect.stringMatching(/^[0-9a-f]{64}$/) },
    stated: { size: expect.any(Number), root: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  for (const instance of [clinic, lab])
    await until(async () => expect(await instance.metrics()).toMatch(/^accord_witness_disputes\{.*\} 1$/m));
  expect(await shownProof()).toMatch(/^<details class="proof" open.*Refuses this log/s);
  // The line is written once, not at every attempt.
  await later(async () =>
    expect((await listCheckpoints(admins.clinic)).witnesses?.[0]?.isDisputing).toBe(true),
  );
  expect(await disputesOf(admins.lab)).toHaveLength(1);
  // An administrator of the witness accepts the log as it is, which the log of the peer shows.
  await setWitness(admins.lab, peers.here, false);
  await setWitness(admins.lab, peers.here, true);
  await later(async () =>
    expect((await listCheckpoints(admins.clinic)).witnesses?.[0]?.isDisputing).toBe(false),
  );
});
