import { createHash } from 'node:crypto';
import { compactVerify, createLocalJWKSet, type JWK } from 'jose';
import { expect, it } from 'vitest';
import { leafOf, type SealedLine } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier, rootOf } from '#lib/audit/merkle-tree.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { startEndpoint, subscribe } from '../support/instances/webhook-endpoint.ts';
import { until } from '../support/run/until.ts';

type Checkpoint = components['schemas']['Checkpoint'];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));

const listCheckpoints = async (query = '') =>
  (await (await admin.get(`/audit/checkpoints${query}`)).json()) as { values: Checkpoint[]; next?: string };
const readLines = async (area: string, query: string) =>
  ((await (await admin.get(`/audit/${area}${query}`)).json()) as { values: SealedLine[] }).values;

let minutes = 0;
/** A checkpoint that covers a line, once there is one. A minute must pass after each. */
const coveringCheckpoint = (area: string, seq: number): Promise<Checkpoint> =>
  until(async () => {
    minutes += 2;
    await letTimePass(instance, `${minutes} minutes`, 'peers');
    const [newest] = (await listCheckpoints()).values;
    expect(newest?.logs[area]?.size).toBeGreaterThan(seq);
    return newest as Checkpoint;
  });

it('a receipt can be proved: its digest is in a line, the line in a tree, and the root in a signed checkpoint that webhooks get', async () => {
  const endpoint = await startEndpoint();
  await subscribe(shop, endpoint.url, ['audit.checkpoint']);
  const { id } = await recordAnswers(shop, 'alice', { [letter]: ['accepted'] });
  const jws = await (await shop.get(`/receipts/${id}`, { Accept: 'application/jose' })).text();

  const { seq, digest } = await until(async () => {
    const [line] = await readLines('consents', `?target=transaction/${id}&action=receipt.signed`);
    expect(line?.seq).toBeDefined();
    return line as SealedLine;
  });
  expect(digest).toBe(createHash('sha256').update(jws).digest('hex'));

  const checkpoint = await coveringCheckpoint('consents', seq);
  const description = (await (await instance.fetch('/.well-known/accord')).json()) as {
    jwks: { keys: JWK[] };
  };
  const { payload, protectedHeader } = await compactVerify(
    checkpoint.jws,
    createLocalJWKSet({ keys: description.jwks.keys.filter(({ use }) => use === 'sig') }),
  );
  expect(protectedHeader.typ).toBe('accord-checkpoint+jwt');
  const claims = JSON.parse(new TextDecoder().decode(payload));
  expect(claims).toEqual({ iss: instance.url, iat: expect.any(Number), logs: checkpoint.logs });

  const head = claims.logs.consents as { size: number; root: string };
  const tree = emptyFrontier();
  for (const each of (await readLines('consents', '?from=0&limit=200')).slice(0, head.size))
    appendLeaf(tree, leafOf(each));
  expect(rootOf(tree).toString('hex')).toBe(head.root);

  await until(() => expect(endpoint.calls.map(({ event }) => event.data.jws)).toContain(checkpoint.jws));
});
