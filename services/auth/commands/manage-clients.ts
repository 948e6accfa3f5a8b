import { randomBytes } from 'node:crypto';
import type { Database } from '#lib/db/database.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import { isClientId, publicClients } from '../domain/public-clients.ts';
import type { GivenRole } from '../domain/roles.ts';
import { deleteClient, insertClient, listClients } from '../queries/clients.ts';

/** A client to be made. */
export interface NewClient {
  id: string;
  /** What it may do for itself. */
  role: GivenRole | null;
  redirectUris: string[];
  /** Without a secret: a program on people's own machines, or in their browsers. */
  isPublic: boolean;
}

/** Makes a client. @returns what to tell the operator: its secret, this once. @throws StartupError. */
export async function addClient(db: Database, keyedHash: KeyedHash, client: NewClient): Promise<string> {
  const fault = faultOf(client);
  if (fault) throw new StartupError(fault);
  const { id, role, redirectUris, isPublic } = client;
  const secret = isPublic ? undefined : randomBytes(32).toString('base64url');
  const secretHash = secret === undefined ? null : keyedHash.hash(secret);
  if (!(await insertClient(db, { id, role, secretHash, redirectUris })))
    throw new StartupError(`There is a client ${id} already; nothing was changed.`);
  return secret === undefined
    ? `The client ${id} is known now. It has no secret.`
    : `The client ${id} is known now. Its secret, which is not shown again:\n${secret}`;
}

/** @returns what to tell the operator. @throws StartupError. */
export async function removeClient(db: Database, id: string): Promise<string> {
  if (!(await deleteClient(db, id))) throw new StartupError(`There is no client ${id}.`);
  return `The client ${id} gets no more tokens. Those that were given before last 5 minutes at most.`;
}

/** One client a line: id, role, addresses. */
export async function describeClients(db: Database): Promise<string> {
  const clients = await listClients(db);
  if (clients.length === 0) return `There are no clients beside ${publicClients.join(' and ')}.`;
  return clients
    .map(({ id, role, redirectUris }) => [id, role ?? '-', ...redirectUris].join('\t'))
    .join('\n');
}

function faultOf({ id, role, redirectUris, isPublic }: NewClient): string | undefined {
  if (!isClientId(id)) return 'A client id has 1 to 64 letters, digits, dots, dashes and underscores.';
  if (publicClients.includes(id)) return `The client ${id} is always there.`;
  if (role === null && redirectUris.length === 0) return 'A client needs --role or --redirect-uri, or both.';
  if (role !== null && isPublic) return 'A client with a role needs a secret, so it cannot be --public.';
  const bad = redirectUris.find(
    (uri) => !/^https?:$/.test(URL.parse(uri)?.protocol ?? '') || uri.includes('#'),
  );
  return bad && `${bad} is not an http or https address without a fragment.`;
}
