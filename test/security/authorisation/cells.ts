import { readContract } from '../../support/contract/contract.ts';
import { listOperations } from '../../support/contract/contract-paths.ts';
import type { TestInstance } from '../../support/instances/instance.ts';
import { type Credential, tokenFor } from './credentials.ts';
import { expectedOutcome, type Outcome, type Relation } from './oracle.ts';
import { type Parts, type Recipe, recipes } from './requests.ts';
import { type Resources, subjectOf } from './resources.ts';

/** One cell of the matrix: an operation, a credential, and whose the thing is. */
export interface Cell {
  operation: Operation;
  credential: Credential;
  relation: Relation;
}

/** A cell's request, made and not sent. */
export interface Prepared {
  address: string;
  init: RequestInit;
  /** Values in the address that differ from request to request. */
  params: string[];
}

/** The issuer has credentials of its own (RFC 6749); health checks are the process's, and know nobody. */
const ofOthers = new Set(['oidc-provider', 'standalone']);

/** Of an operation that nobody has thought of here: the test says so. */
const missing: Recipe = { relations: ['own'], make: () => ({}) };

/** Every operation of the contract whose rights are x-roles'. */
export const operations = listOperations(readContract())
  .filter(({ operation }) => !ofOthers.has(operation['x-served-by'] ?? ''))
  // Between instances the signature of a request is its credential: test/service/peers-trust.test.ts.
  .filter(({ path }) => !path.startsWith('/federation/'))
  // The URL of an acknowledgement is its credential: test/service/webhooks-recipients.test.ts.
  .filter(({ path }) => !path.endsWith('/acknowledge'))
  // So is that of the link in a message of a campaign: test/service/campaigns.test.ts.
  .filter(({ path }) => !['/choices/unsubscribe', '/choices/subscribe'].includes(path))
  .map(({ path, method, operation }) => ({
    path,
    method: method.toUpperCase(),
    contract: operation,
    operationId: operation.operationId,
    recipe: recipes[operation.operationId] ?? missing,
  }));
export type Operation = (typeof operations)[number];

export function expected({ operation: { contract, path, recipe }, credential, relation }: Cell): Outcome {
  const { emptyIfUnknown } = recipe;
  const ofSomebody = recipe.relations.includes('other');
  return expectedOutcome({ ...contract, path, emptyIfUnknown, ofSomebody }, credential, relation);
}

/** Makes a cell's request, and the things that it is about. */
export async function prepare(cell: Cell, resources: Resources): Promise<Prepared> {
  const { operation, credential, relation } = cell;
  let { tokens } = await resources.transaction('own', 'final', false);
  const changes = operation.method !== 'GET' && expected(cell) === 'allowed';
  const parts = await operation.recipe.make({
    ...resources,
    relation,
    async transaction(stage) {
      // There is a receipt token when there is an answer.
      const wanted = credential.use === 'receipt' && stage === 'open' ? 'final' : stage;
      const aimed = await resources.transaction(relation, wanted, changes);
      tokens = aimed.tokens;
      return aimed.id;
    },
  });
  if (credential.use === 'choices') tokens = { ...tokens, choices: await openChoices(resources) };
  return {
    address: addressOf(operation.path, parts, tokenFor(credential, tokens)),
    init: { method: operation.method, ...contentOf(parts, credential.headers) },
    params: Object.values(parts.params ?? {}),
  };
}

/** The token of a new session of the person who has things of their own: a request may end all sessions. */
async function openChoices({ operator }: Resources): Promise<string> {
  const response = await operator.send('POST', '/choices', { subject: subjectOf('own') });
  const { url } = (await response.json()) as { url: string };
  return new URL(url).searchParams.get('t') ?? '';
}

/** Sends a request, with other headers or another body if wanted. */
export function sendPrepared(
  instance: TestInstance,
  { address, init }: Prepared,
  changes: { headers?: Record<string, string>; body?: string } = {},
): Promise<Response> {
  const headers = { ...(init.headers as Record<string, string>), ...changes.headers };
  return instance.fetch(address, { ...init, ...changes, headers });
}

function addressOf(path: string, { params = {}, query }: Parts, token: string | undefined): string {
  const concrete = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query);
  if (token) search.set('t', token);
  return search.size > 0 ? `${concrete}?${search}` : concrete;
}

function contentOf({ json, image, jws, ndjson }: Parts, headers: Record<string, string>): RequestInit {
  if (jws)
    return {
      headers: { ...headers, 'Content-Type': 'application/jose' },
      body: new TextEncoder().encode(jws),
    };
  if (ndjson !== undefined)
    return { headers: { ...headers, 'Content-Type': 'application/x-ndjson' }, body: ndjson };
  if (image) return { headers: { ...headers, 'Content-Type': 'image/png' }, body: new Uint8Array(image) };
  if (json === undefined) return { headers };
  return { headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(json) };
}
