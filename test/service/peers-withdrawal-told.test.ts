import { afterAll, beforeAll, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { signIn } from '../support/instances/callers.ts';
import {
  answered,
  type LeadingInstance,
  type LedPartner,
  pageOf,
  startLeading,
} from '../support/instances/leader-instance.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { type OwnOwner, takeParts } from '../support/peers/own-owner.ts';
import { openGate } from '../support/run/gate.ts';
import { until } from '../support/run/until.ts';

type Transaction = components['schemas']['Transaction'];

let here: LeadingInstance;
/** Its self-description names the capability; the laboratory's names none. */
let clinic: OwnOwner;
let lab: OwnOwner;
beforeAll(async () => {
  here = await startLeading();
  lab = takeParts(here.lab);
  clinic = takeParts(here.clinic);
  const describe = here.clinic.describe;
  here.clinic.describe = (changes, signedBy) =>
    describe({ capabilities: ['withdrawal', 'erasure', 'flight'], ...changes }, signedBy);
  clinic.verdict = ({ path, sid }) => ({
    verdict: { withdrawal: 'withdrawn', erasure: 'erased' }[path.split('/').at(-1) as string] ?? 'committed',
    id: `at-${sid}`,
  });
}, 60_000);
afterAll(() => here?.stop());

const withdraw = async ({ id }: { id: string }, body: object = {}) => {
  const response = await here.operator.send('POST', `/consents/${id}/withdraw`, body);
  expect(response.status).toBe(201);
  return (await response.json()) as Transaction & { token: string };
};
const withdrawalAt = async (made: { id: string }, { url }: LedPartner) =>
  (await here.followersOf(made)).followers.find(({ location }) => location === url)?.withdrawal?.state;
const cameAbout = (owner: OwnOwner, sid: string) =>
  owner.came
    .filter((each) => each.sid === sid)
    .map(({ method, path, body }) => [method, path.split('/').at(-1), path.endsWith(sid) ? '' : body]);

it('a peer without the capability is not told, the page says whom to ask, and others are told', async () => {
  const made = await answered(here);
  const withdrawal = await withdraw(made);
  await until(async () => {
    expect(await withdrawalAt(made, here.lab)).toBe('UNSUPPORTED');
    expect(await withdrawalAt(made, here.clinic)).toBe('ACKNOWLEDGED');
  });
  const { sid: untold } = await here.partOf(made, here.lab);
  const { sid: told } = await here.partOf(made, here.clinic);
  expect(cameAbout(lab, untold)).toEqual([['PUT', untold, '']]);
  expect(cameAbout(clinic, told)).toEqual([
    ['PUT', told, ''],
    ['POST', 'withdrawal', expect.stringMatching(/^{"withdrawn":"[^"]+"}$/)],
  ]);
  const page = await pageOf(here, { ...made, id: withdrawal.id, token: withdrawal.token });
  expect(page).toContain('Lakeside Clinic is told to end the consents');
  expect(page).not.toContain('Northern Lab is told');
  expect(page).toContain(
    'If the consents that you gave to it are in force there, this withdrawal does not end them',
  );
});

it('a withdrawal is sent after its part, which is still being sent', async () => {
  const gate = openGate();
  clinic.instead = () => gate.passed.then(() => false);
  const made = await answered(here);
  const { sid } = await here.partOf(made, here.clinic);
  await until(() => expect(cameAbout(clinic, sid)).toHaveLength(1));
  await withdraw(made, { peers: [here.clinic.url] });
  const waiting = () =>
    rowsOf(here, "SELECT FROM peers.deliveries WHERE kind = 'withdraw' AND sid = $1", [sid]);
  await until(async () => expect(await waiting()).toHaveLength(1));
  // The engine has looked at all that is due when a later part has come.
  const later = await answered(here);
  const { sid: laterSid } = await here.partOf(later, here.clinic);
  await until(() => expect(cameAbout(clinic, laterSid)).toHaveLength(1));
  expect(cameAbout(clinic, sid).every(([method]) => method === 'PUT')).toBe(true);
  gate.open();
  await until(async () => expect(await withdrawalAt(made, here.clinic)).toBe('ACKNOWLEDGED'));
  expect(cameAbout(clinic, sid).at(-1)).toEqual([
    'POST',
    'withdrawal',
    expect.stringMatching(/^{"withdrawn":"[^"]+"}$/),
  ]);
  clinic.instead = () => false;
});

it('a refused part needs no withdrawal', async () => {
  const usual = lab.verdict;
  lab.verdict = () => ({ verdict: 'refused', reason: 'stale' });
  const made = await answered(here);
  const { sid } = await here.partOf(made, here.lab);
  await until(async () => expect((await here.partOf(made, here.lab)).state).toBe('REFUSED'));
  const withdrawal = await withdraw(made);
  expect(await withdrawalAt(made, here.lab)).toBeUndefined();
  expect(withdrawal.recipients).toMatchObject([{ name: 'Lakeside Clinic' }]);
  expect(cameAbout(lab, sid)).toEqual([['PUT', sid, '']]);
  lab.verdict = usual;
});

it('a withdrawal of a part is rejected unless a paired instance signed it', async () => {
  const path = `/federation/submissions/${randomId()}/withdrawal`;
  const stranger = { issuer: 'https://stranger.example' };
  expect((await here.clinic.send(here.url, 'POST', path, {}, stranger)).status).toBe(401);
  expect((await here.operator.send('POST', path, {})).status).toBe(401);
  expect((await here.clinic.send(here.url, 'POST', path, {})).status).toBe(200);
});

it('a withdrawal whose order cannot be stored is not stored either, and succeeds when it is repeated', async () => {
  const made = await answered(here);
  await runInDatabase(
    here,
    `CREATE FUNCTION transactions.fail() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'no more notices'; END $$;
     CREATE TRIGGER fail BEFORE INSERT ON transactions.notices
       FOR EACH STATEMENT EXECUTE FUNCTION transactions.fail()`,
  );
  const url = `${here.url}/consents/${made.id}/withdraw?t=${encodeURIComponent(made.token)}`;
  const failed = await fetch(url, { method: 'POST', headers: { Accept: 'application/json' } });
  await runInDatabase(here, 'DROP TRIGGER fail ON transactions.notices');
  expect(failed.status).toBe(500);
  const refused = 'SELECT FROM transactions.records WHERE subject = $1 AND withdraws IS NOT NULL';
  expect(await rowsOf(here, refused, [made.subject])).toEqual([]);
  await withdraw(made);
  expect(await rowsOf(here, refused, [made.subject])).toHaveLength(1);
  await until(async () => expect(await withdrawalAt(made, here.clinic)).toBe('ACKNOWLEDGED'));
});

it('an erasure asks the peers that have the capability, and names the others', async () => {
  const admin = await signIn(here, 'admin');
  const made = await answered(here);
  const { sid: untold } = await here.partOf(made, here.lab);
  const { sid: told } = await here.partOf(made, here.clinic);
  const started = await admin.send('POST', `/subjects/${made.subject}/erasure`);
  const { id } = (await started.json()) as { id: string };
  await until(async () => {
    const { peers } = (await (await admin.get(`/erasures/${id}`)).json()) as components['schemas']['Erasure'];
    expect(Object.fromEntries(peers.map(({ name, state, outcome }) => [name, [state, outcome]]))).toEqual({
      'Lakeside Clinic': ['ACKNOWLEDGED', 'done'],
      'Northern Lab': ['UNSUPPORTED', undefined],
    });
  });
  expect(cameAbout(clinic, told).at(-1)).toEqual(['POST', 'erasure', '{}']);
  expect(cameAbout(lab, untold).map(([method]) => method)).not.toContain('POST');
});
