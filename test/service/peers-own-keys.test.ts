import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import { sql } from '#lib/db/sql.ts';
import { readDescription, signingKids } from '../../services/peers/domain/description.ts';
import { type DeliveringInstance, startDelivering } from '../support/instances/delivering-instance.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { until } from '../support/run/until.ts';

let clinic: DeliveringInstance;
let lab: OwnPeer;
let labId: string;
/** Thumbprints of keys that requests to the laboratory were signed with. */
let seen: string[];
beforeEach(async () => {
  [clinic, lab] = await Promise.all([startDelivering(), startOwnPeer()]);
  seen = [];
  const before = lab.answer;
  lab.answer = (request, response) => {
    const token = (request.headers.authorization ?? '').replace(/^Peer /, '');
    if (token) seen.push(decodeProtectedHeader(token).kid as string);
    if (request.url === '/federation/ping') return void response.writeHead(204).end();
    return before(request, response);
  };
  labId = await clinic.pairWith(lab);
});
afterEach(async () => {
  await lab?.close();
  await clinic?.stop();
});

const known = async () =>
  (
    await clinic.db.one<{ kid: string | null }>(
      sql`SELECT p.knows_kid AS kid FROM peers AS p WHERE p.id = ${labId}`,
    )
  ).kid;

describe('new keys of this instance', () => {
  it('are announced to each peer until it accepts them', async () => {
    const [old] = clinic.keys as [(typeof clinic.keys)[0]];
    const young = readPrivateKey(generatePrivateKey());
    await clinic.restartWith([young, old]);
    await until(async () => expect(await known()).toBe(young.kid));
    expect(seen).toContain(young.kid);
    const shown = await clinic.fetch('/.well-known/accord', { headers: { Accept: 'application/jose' } });
    const read = readDescription(await shown.text(), {
      url: clinic.url,
      now: new Date(),
      ownKids: new Set(),
    });
    if ('fault' in read) throw new Error(read.fault);
    expect(read.description.signedBy).toBe(old.kid);
    expect(signingKids(read.description.keys)).toEqual([young.kid, old.kid]);
  });

  it('sign receipts from then on', async () => {
    const young = readPrivateKey(generatePrivateKey());
    await clinic.restartWith([young, ...clinic.keys]);
    const path = `/federation/decisions/${'1'.repeat(22)}`;
    const { receipt } = (await (await lab.send(clinic.url, 'GET', path)).json()) as { receipt: string };
    expect(decodeProtectedHeader(receipt).kid).toBe(young.kid);
    expect(decodeJwt(receipt)).toMatchObject({ decision: 'open' });
  });
});

describe('new keys of a peer', () => {
  it('lead to a new read of its catalogue, so that answers are sealed to the new key', async () => {
    await clinic.db.query(sql`UPDATE peers SET described_at = accord_now() - interval '61 seconds'`);
    await clinic.db.query(sql`UPDATE catalogues SET state = 'as it was', due_at = 'infinity'`);
    lab.keys = [readPrivateKey(generatePrivateKey()), ...lab.keys];
    expect((await lab.send(clinic.url, 'GET', `/federation/decisions/${'1'.repeat(22)}`)).status).toBe(200);
    expect(await clinic.db.query(sql`SELECT c.state FROM catalogues AS c`)).not.toEqual([
      { state: 'as it was' },
    ]);
  });
});
