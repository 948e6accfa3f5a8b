import { randomUUID } from 'node:crypto';
import type { Caller } from '../../support/instances/callers.ts';
import type { TestInstance } from '../../support/instances/instance.ts';
import { createTransaction } from '../../support/instances/live-transactions.ts';
import { type OwnPeer, startOwnPeer } from '../../support/peers/peer-of-our-own.ts';
import { signInForLong, type Tokens } from './credentials.ts';
import type { Relation } from './oracle.ts';

/** Not answered yet; answered; answered, with an open child. */
export type Stage = 'open' | 'final' | 'parent';

/** A transaction that a request is about, and the tokens of the one that is the caller's. */
export interface Aimed {
  id: string;
  tokens: Tokens;
}

/** Things to ask for, whoever they belong to. */
export interface Resources {
  operator: Caller;
  admin: Caller;
  fetch: TestInstance['fetch'];
  /** An instance that pairs with whoever asks. */
  partner: OwnPeer;
  /** @param fresh one that nothing has been done to, for requests that change it. */
  transaction(relation: Relation, stage: Stage, fresh: boolean): Promise<Aimed>;
}

/** Whose things are asked for: the demo account `user` is the caller who has things of their own. */
export function subjectOf(relation: Relation): string {
  if (relation === 'none') return `nobody ${randomUUID()}`;
  return relation === 'own' ? 'user' : 'somebody else';
}

export const answers = {
  'element/processing/processing.001/1.0': ['accepted'],
  'element/processing/processing.002/1.0': ['refused'],
  'element/preference/preference.001/1.0': ['Every week'],
};

/**
 * @param signIn of an instance whose secrets the test does not have.
 * @returns makes things over HTTP, as callers do.
 */
export async function createResources(
  instance: TestInstance,
  signIn: typeof signInForLong = signInForLong,
): Promise<Resources> {
  const [operator, admin] = await Promise.all([signIn(instance, 'operator'), signIn(instance, 'admin')]);
  const standing = await makeTransaction(instance, operator, 'own', 'final');
  // So that there is somebody else.
  await makeTransaction(instance, operator, 'other', 'open');
  const shared = new Map<string, Aimed>();
  return {
    operator,
    admin,
    fetch: instance.fetch,
    partner: await startOwnPeer(),
    async transaction(relation, stage, fresh) {
      if (relation === 'none') return { id: unknownId(standing.id), tokens: standing.tokens };
      const name = `${relation} ${stage}`;
      const found = fresh ? undefined : shared.get(name);
      const aimed = found ?? (await makeTransaction(instance, operator, relation, stage));
      if (!fresh) shared.set(name, aimed);
      return relation === 'own' ? aimed : { id: aimed.id, tokens: standing.tokens };
    },
  };
}

/** An id as they are, of nothing. */
function unknownId(id: string): string {
  return [...id].reverse().join('');
}

/** A scan, which a transaction takes. @returns its SHA-256. */
async function uploadScan({ fetch }: TestInstance, { headers }: Caller): Promise<string> {
  const init = {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/pdf' },
    body: '%PDF-1.7',
  };
  return ((await (await fetch('/consents/documents', init)).json()) as { sha256: string }).sha256;
}

async function makeTransaction(
  instance: TestInstance,
  operator: Caller,
  relation: Relation,
  stage: Stage,
): Promise<Aimed> {
  // What it is about makes each context another: equal ones would give the same transaction again.
  const object = randomUUID();
  // Each has its own address, because messages to an address are limited.
  const subjectInfos = { emailAddress: `${object}@example.org` };
  const collection = { way: 'PAPER', document: await uploadScan(instance, operator) };
  const context = { subject: subjectOf(relation), object, cancellable: true, subjectInfos, collection };
  const { id, token } = await createTransaction(operator, context);
  if (stage === 'open') return { id, tokens: { tx: token, receipt: undefined } };
  const submitted = await operator.send('POST', `/consents/${id}/submit`, answers);
  if (submitted.status !== 200) throw new Error(`nothing was answered: ${await submitted.text()}`);
  if (stage === 'parent') await operator.send('POST', `/consents/${id}/child`);
  const receipt = (await (await operator.get(`/receipts/${id}`)).json()) as { updateUrl: string };
  return {
    id,
    tokens: { tx: token, receipt: new URL(receipt.updateUrl).searchParams.get('t') ?? undefined },
  };
}
