import { randomUUID } from 'node:crypto';
import type { ClusterAccess } from '#lib/config/cluster-access.ts';
import { StartupError } from '#lib/errors/fail.ts';

interface Options {
  access: ClusterAccess;
  /** Of the Secret. */
  name: string;
  /** Makes the entries that the given ones lack. */
  complete: (given: ReadonlyMap<string, string>) => Promise<ReadonlyMap<string, string>>;
}

interface Secret {
  metadata: { resourceVersion: string };
  data?: Record<string, string>;
}

/** Another Job may write at the same time. */
const attempts = 5;

/**
 * Creates a Secret, or adds missing entries to an existing one. An existing entry is never changed: each
 * write fails if the Secret has changed since it was read.
 * @returns the names of the added entries.
 * @throws StartupError if the API server refuses.
 */
export async function fillClusterSecret({ access, name, complete }: Options): Promise<string[]> {
  const path = `/api/v1/namespaces/${access.namespace}/secrets/${name}`;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const found = await access.call({ method: 'GET', path });
    if (found.status !== 200 && found.status !== 404) throw refused('read', name, found);
    const secret = found.status === 200 ? (found.body as Secret) : undefined;
    const added = await complete(new Map(Object.entries(secret?.data ?? {}).map(decode)));
    if (added.size === 0) return [];
    const data = Object.fromEntries([...added].map(([entry, text]) => [entry, encode(text)]));
    const written = await access.call(secret ? addEntries(path, secret, data) : create(path, name, data));
    if (written.status === 200 || written.status === 201) return [...added.keys()];
    if (written.status !== 409) throw refused('write', name, written);
  }
  throw new StartupError(`The Secret ${name} was changed by others while its entries were added. Try again.`);
}

/**
 * Server-side apply names the Secret in the path, so that the right to create can be limited to this name.
 * With a field manager of this call alone, it fails with 409 if the Secret has appeared in the meantime.
 */
function create(path: string, name: string, data: Record<string, string>) {
  const query = `?fieldManager=accord-${randomUUID()}&force=false`;
  const contentType = 'application/apply-patch+yaml';
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', data };
  return { method: 'PATCH', path: `${path}${query}`, contentType, body } as const;
}

/** With the resource version that was read, the patch fails with 409 if the Secret has changed since. */
function addEntries(path: string, { metadata: { resourceVersion } }: Secret, data: Record<string, string>) {
  const contentType = 'application/merge-patch+json';
  return { method: 'PATCH', path, contentType, body: { metadata: { resourceVersion }, data } } as const;
}

function refused(
  what: string,
  name: string,
  { status, body }: { status: number; body: unknown },
): StartupError {
  const { message = 'no reason given' } = (body ?? {}) as { message?: string };
  return new StartupError(
    `The API server did not let this pod ${what} the Secret ${name} (${status}): ${message}`,
  );
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function decode([entry, text]: [string, string]): [string, string] {
  return [entry, Buffer.from(text, 'base64').toString('utf8')];
}
