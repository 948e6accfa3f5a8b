import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

let under: AuthUnderTest;
let admin: Record<string, string>;
beforeAll(async () => {
  under = await startAuth();
  admin = { Authorization: `Bearer ${await under.tokenOf('admin')}` };
});
afterAll(() => under.stop());

async function make(scope: 'OWNER' | 'PEER'): Promise<{ id: string; key: string }> {
  const response = await under.fetch('/keys', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...admin },
    body: JSON.stringify({ name: 'for the lab', scope }),
  });
  return (await response.json()) as { id: string; key: string };
}
const clinic = { url: 'https://clinic.example', thumbprint: 'thumbprint-of-the-clinic' };
const reserve = (apiKey: string, pairing: string, partner = clinic) =>
  under.auth.operations.reservePairingKey({ apiKey, pairing, partner });
const use = (apiKey: string, pairing: string, partner = clinic) =>
  under.auth.operations.usePairingKey({ apiKey, pairing, partner });

describe('a key of scope PEER', () => {
  it('works for one pairing, any number of times, and for no other', async () => {
    const { key } = await make('PEER');
    const pairing = randomUUID();
    expect(await reserve(key, pairing)).toEqual({ verdict: 'reserved' });
    expect(await use(key, pairing)).toEqual({ used: true });
    // A reply that was lost: the same pairing comes again.
    expect(await reserve(key, pairing)).toEqual({ verdict: 'reserved' });
    expect(await use(key, pairing)).toEqual({ used: true });
    expect(await reserve(key, randomUUID())).toEqual({ verdict: 'used' });
    expect(await use(key, randomUUID())).toEqual({ used: false });
  });

  it('is bound to the address and the signing key of the peer that presented it first', async () => {
    const { key } = await make('PEER');
    const pairing = randomUUID();
    const strangers = [
      { ...clinic, url: 'https://other.example' },
      { ...clinic, thumbprint: 'another-thumbprint' },
    ];
    expect(await reserve(key, pairing)).toEqual({ verdict: 'reserved' });
    for (const stranger of strangers) {
      expect(await reserve(key, pairing, stranger)).toEqual({ verdict: 'used' });
      expect(await use(key, pairing, stranger)).toEqual({ used: false });
    }
    expect(await use(key, pairing)).toEqual({ used: true });
    for (const stranger of strangers)
      expect(await reserve(key, pairing, stranger)).toEqual({ verdict: 'used' });
  });

  it('may be presented again by the same peer for ten minutes after its use', async () => {
    const { key, id } = await make('PEER');
    const pairing = randomUUID();
    await reserve(key, pairing);
    await use(key, pairing);
    const passMinutes = (minutes: number) =>
      under.db.query(
        sql`UPDATE api_keys SET used_at = used_at - ${minutes} * interval '1 minute' WHERE id = ${id}`,
      );
    await passMinutes(9);
    expect(await reserve(key, pairing)).toEqual({ verdict: 'reserved' });
    expect(await use(key, pairing)).toEqual({ used: true });
    await passMinutes(1);
    expect(await reserve(key, pairing)).toEqual({ verdict: 'used' });
    expect(await use(key, pairing)).toEqual({ used: false });
  });

  it('is spent when its peer is removed', async () => {
    const lab = { url: 'https://lab.example', thumbprint: 'thumbprint-of-the-lab' };
    const [used, reserved, ofOthers] = [await make('PEER'), await make('PEER'), await make('PEER')];
    const pairing = randomUUID();
    for (const { key } of [used, reserved]) await reserve(key, pairing, lab);
    await reserve(ofOthers.key, pairing);
    await use(used.key, pairing, lab);
    await under.auth.operations.spendPairingKeys({ url: lab.url });
    for (const { key } of [used, reserved]) {
      expect(await reserve(key, pairing, lab)).toEqual({ verdict: 'used' });
      expect(await use(key, pairing, lab)).toEqual({ used: false });
    }
    expect(await reserve(ofOthers.key, pairing)).toEqual({ verdict: 'reserved' });
  });

  it('is reserved by one of many concurrent pairings', async () => {
    const { key } = await make('PEER');
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => reserve(key, randomUUID())));
    expect(verdicts.filter(({ verdict }) => verdict === 'reserved')).toHaveLength(1);
  });

  it('is free again when a pairing that began with it did not end within ten minutes', async () => {
    const { key, id } = await make('PEER');
    const [first, second] = [randomUUID(), randomUUID()];
    await reserve(key, first);
    expect(await reserve(key, second)).toEqual({ verdict: 'used' });
    await under.db.query(
      sql`UPDATE api_keys SET reserved_until = now() - interval '1 second' WHERE id = ${id}`,
    );
    expect(await reserve(key, second)).toEqual({ verdict: 'reserved' });
    expect(await use(key, first)).toEqual({ used: false });
  });

  it('is valid for a week', async () => {
    const { key, id } = await make('PEER');
    await under.db.query(sql`UPDATE api_keys SET created_at = now() - interval '8 days' WHERE id = ${id}`);
    expect(await reserve(key, randomUUID())).toEqual({ verdict: 'used' });
  });

  it('is no valid key any more once it has paired, or is too old to', async () => {
    const [paired, old] = [await make('PEER'), await make('PEER')];
    const ask = ({ key }: { key: string }) =>
      under.auth.operations.introspect({ apiKey: key, browser: false });
    for (const key of [paired, old])
      expect(await ask(key)).toMatchObject({ result: 'principal', principal: { roles: [] } });
    const pairing = randomUUID();
    await reserve(paired.key, pairing);
    await use(paired.key, pairing);
    await under.db.query(
      sql`UPDATE api_keys SET created_at = now() - interval '8 days' WHERE id = ${old.id}`,
    );
    for (const key of [paired, old])
      expect(await ask(key)).toMatchObject({ result: 'refused', code: 'unauthorized' });
  });

  it('shows in the list when it was used', async () => {
    const { key, id } = await make('PEER');
    const pairing = randomUUID();
    await reserve(key, pairing);
    await use(key, pairing);
    const keys = (await (await under.fetch('/keys', { headers: admin })).json()) as { id: string }[];
    expect(keys.find((each) => each.id === id)).toMatchObject({ lastAccessDate: expect.any(Number) });
  });

  it('cannot pair once it is revoked', async () => {
    const { key, id } = await make('PEER');
    const pairing = randomUUID();
    await reserve(key, pairing);
    await under.fetch(`/keys/${id}`, { method: 'DELETE', headers: admin });
    expect(await reserve(key, pairing)).toEqual({ verdict: 'unknown' });
    expect(await use(key, pairing)).toEqual({ used: false });
  });
});

describe('an unsuitable key', () => {
  it('of scope OWNER is reported as not for pairing', async () => {
    const { key } = await make('OWNER');
    expect(await reserve(key, randomUUID())).toEqual({ verdict: 'not-for-pairing' });
  });

  it.each(['', 'acc_', 'hello', `acc_${'0'.repeat(32)}_${'a'.repeat(43)}_000000`])(
    '%j is unknown',
    async (apiKey) => {
      expect(await reserve(apiKey, randomUUID())).toEqual({ verdict: 'unknown' });
    },
  );

  it('with one changed letter is unknown', async () => {
    const { key } = await make('PEER');
    const changed = key.replace(/(?<=acc_[0-9a-f]{32}_)./, (letter) => (letter === 'a' ? 'b' : 'a'));
    expect(await reserve(changed, randomUUID())).toEqual({ verdict: 'unknown' });
  });
});
