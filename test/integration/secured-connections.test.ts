import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createRedisLink } from '#lib/cache/redis-link.ts';
import { redisLogin } from '#lib/config/secret-files.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { makeWorkFolder, type WorkFolder } from '../infrastructure/work-folder.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestPostgres, type TestPostgres } from '../support/stores/own-postgres.ts';
import { startTestRedis } from '../support/stores/redis.ts';

const log = createLogger({ level: 'silent' });
const certificate = selfSignedCertificate(['localhost']);
const other = selfSignedCertificate(['localhost']);
const password = 'p%40ss:/word';

const work: WorkFolder = await makeWorkFolder('certificates');
const [cert, key] = [path.join(work.path, 'server.crt'), path.join(work.path, 'server.key')];
await writeFile(cert, certificate.cert);
await writeFile(key, certificate.key);
const redis = await startTestRedis([
  ...['--tls-port', '{port}', '--port', '0', '--tls-auth-clients', 'no'],
  ...['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert],
  ...['--user', 'accord', 'on', `>${password}`, '~*', '&*', '+@all', '--user', 'default', 'off'],
]);
afterAll(async () => {
  await redis?.stop();
  await work.remove();
});

describe.skipIf(!redis)('a Redis that demands TLS and an ACL user', () => {
  const url = () => (redis?.address ?? '').replace('redis://127.0.0.1', 'rediss://accord@localhost');

  async function login(text: string): Promise<string> {
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, 'redis-password'), `${text}\n`, { mode: 0o600 });
    return redisLogin(url(), folder);
  }

  it('is used with the CA of REDIS_CA and the secret redis-password', async () => {
    const link = createRedisLink({ url: await login(password), ca: certificate.cert, log });
    onTestFinished(link.stop);
    await once(link.client, 'ready');
    expect(await link.run((client) => client.acl('WHOAMI'))).toBe('accord');
  });

  it.each([
    ['another password', 'wrong', certificate.cert, /WRONGPASS/],
    ['another CA', password, other.cert, /certificate/],
    ['the public CAs', password, undefined, /self-signed certificate/],
  ])('is not used with %s', async (_, text, ca, reason) => {
    const link = createRedisLink({ url: await login(text), ca, log });
    onTestFinished(link.stop);
    const [error] = await once(link.client, 'error');
    expect(String(error)).toMatch(reason);
    await expect(link.run((client) => client.ping())).rejects.toThrow('Redis does not answer.');
  });
});

describe('a PostgreSQL that demands TLS', () => {
  let database: TestPostgres;
  beforeAll(async () => {
    database = await createTestPostgres({ owner: 'accord', passwordsFor: 'services', certificate });
  });
  afterAll(() => database?.stop());

  /** Runs the migration. @param ca the content of the file of sslrootcert. */
  async function migrate(host: string, ca: string | undefined) {
    const folder = await temporaryFolder();
    const url = new URL(database.url);
    url.hostname = host;
    if (ca) {
      await writeFile(path.join(folder, 'ca.crt'), ca);
      url.search = `?sslmode=verify-full&sslrootcert=${folder}/ca.crt`;
    }
    return runCommand('services/migrate.ts', [], { env: { DATABASE_URL: url.href, LOG_LEVEL: 'silent' } });
  }

  it('is migrated with sslmode=verify-full and its CA', async () => {
    expect(await migrate('localhost', certificate.cert)).toMatchObject({
      code: 0,
      output: 'Every schema is up to date.\n',
    });
  });

  it.each([
    ['without TLS', 'localhost', undefined, /no encryption/],
    ['with another CA', 'localhost', other.cert, /certificate/],
    ['under another name', '127.0.0.1', certificate.cert, /does not match certificate/],
  ])('is not used %s, and the reason is one sentence', async (_, host, ca, reason) => {
    const { code, errors } = await migrate(host, ca);
    expect(errors).toMatch(/^The database at .* \(DATABASE_URL\) cannot be used: .*\.\n$/);
    expect(errors).toMatch(reason);
    expect(code).toBe(1);
  });
});
