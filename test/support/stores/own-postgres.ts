import { chown, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { serverSettings } from '#lib/db/embedded/create-cluster.ts';
import { terminate } from '#lib/db/embedded/postmaster.ts';
import { prepareTestPostgres } from '../../infrastructure/postgres.ts';

/** A PostgreSQL of one test's own, with an empty database. */
export interface TestPostgres {
  /** Of the owner, who is no superuser and needs no password. */
  url: string;
  asSuperuser(text: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server with a database `accord`, for what belongs to the whole server: roles and their passwords.
 * @param passwordsFor whether services have to give one. @param certificate with it, only connections with
 * TLS are accepted, except those of the superuser.
 */
export async function createTestPostgres({
  owner,
  passwordsFor,
  certificate,
}: {
  owner: string;
  passwordsFor: 'services' | 'nobody';
  certificate?: { cert: string; key: string };
}): Promise<TestPostgres> {
  const prepared = await prepareTestPostgres();
  const kind = certificate ? 'hostssl' : 'host';
  await writeFile(
    path.join(prepared.files, 'pg_hba.conf'),
    [
      'host all postgres 127.0.0.1/32 trust',
      `${kind} all ${owner} 127.0.0.1/32 trust`,
      `${kind} all all 127.0.0.1/32 ${passwordsFor === 'services' ? 'scram-sha-256' : 'trust'}\n`,
    ].join('\n'),
  );
  const tls: Record<string, string> = certificate ? { ssl: 'on' } : {};
  if (certificate) await writeCertificate(prepared.files, certificate);
  const postmaster = await prepared.launch({ ...serverSettings, ...tls, fsync: 'off' });
  await run(prepared.url, `CREATE ROLE ${owner} LOGIN CREATEROLE`);
  await run(prepared.url, `CREATE DATABASE accord OWNER ${owner}`);
  const url = new URL(prepared.url);
  url.username = owner;
  url.pathname = '/accord';
  return {
    url: url.href,
    asSuperuser: (text) => run(prepared.url, text),
    async stop() {
      await terminate(postmaster);
      await prepared.remove();
    },
  };
}

/** PostgreSQL reads a key only if nobody but its own account may. */
async function writeCertificate(folder: string, { cert, key }: { cert: string; key: string }): Promise<void> {
  const { uid, gid } = await stat(folder);
  for (const [file, text] of [
    ['server.crt', cert],
    ['server.key', key],
  ] as const) {
    await writeFile(path.join(folder, file), text, { mode: 0o600 });
    await chown(path.join(folder, file), uid, gid);
  }
}

async function run(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  await client.query(text).finally(() => client.end());
}
