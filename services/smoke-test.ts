import { randomBytes, randomUUID } from 'node:crypto';
import { json, str } from 'envalid';
import { databaseUrl } from '#lib/config/address-validators.ts';
import { databaseLogin, readSecretFile } from '#lib/config/secret-files.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { readSettings } from '#lib/config/settings.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { sql } from '#lib/db/sql.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createKeyedHash } from './auth/domain/api-keys.ts';
import { deleteClient, insertClient } from './auth/queries/clients.ts';

// `accord smoke-test` (helm test): walks a subject through a whole consent on the services of a release and
// removes what it has created. The audit log keeps its lines, and webhooks are told of this consent.
const settings = readSettings(process.env, {
  DATABASE_URL: databaseUrl({ default: undefined }),
  SECRETS_DIR: str(),
  OIDC_ISSUER: str({ default: '' }),
  OIDC_AUDIENCE: str({ default: '' }),
  /** Client at OIDC_ISSUER with the role `admin`; its secret is the file `test-client`. */
  TEST_CLIENT_ID: str({ default: '' }),
  TEST_CLIENT_SCOPE: str({ default: '' }),
  /** Hosts of the services by name. */
  SERVICES: json<Record<string, string>>(),
});
const { OIDC_ISSUER: issuer, TEST_CLIENT_ID: clientId } = settings;
const name = `smoke-test-${randomUUID()}`;
const services = settings.SERVICES;
const processing = {
  title: 'A test of the installation',
  data: 'Nothing',
  usage: 'The test removes this answer.',
  retention: { value: 1, unit: 'DAY', fullText: 'One day' },
  legalBases: ['LEGAL_BASIS_CONSENT'],
};
const information = {
  title: 'A test of the installation',
  header: '<p>A test.</p>',
  dataController: { company: 'Test' },
  dataControllerVisible: true,
};

try {
  await checkReadiness();
  if (!issuer) await withDatabase('auth', withClient);
  else if (clientId) await tryConsent(await signInAt(issuer));
  else
    tell(
      `LEFT OUT: the consent. Only services were asked whether they are ready. ${issuer} signs administrators in: set test.clientId and test.existingSecret to a client of it with the role admin.`,
    );
} catch (error) {
  process.stderr.write(`FAILED: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function checkReadiness(): Promise<void> {
  for (const [service, host] of Object.entries(services)) {
    const { status } = await fetch(`http://${host}:8081/readyz`, { signal: AbortSignal.timeout(5_000) });
    if (status !== 200) throw new StartupError(`${service} is not ready: /readyz answers ${status}`);
  }
  tell(`ok: ${Object.keys(services).join(', ')} are ready`);
}

/** Tries a consent as a client of the built-in issuer that exists for this test only. */
async function withClient(auth: Database): Promise<void> {
  const { keyPepper } = await loadSecrets({
    folder: settings.SECRETS_DIR,
    names: ['keyPepper'],
    generate: false,
  });
  const secret = randomBytes(32).toString('base64url');
  const secretHash = createKeyedHash(keyPepper).hash(secret);
  await insertClient(auth, { id: name, role: 'admin', secretHash, redirectUris: [] });
  try {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: name,
      client_secret: secret,
    });
    const { access_token } = await call<{ access_token: string }>('auth', 'POST', '/auth', body);
    tell('ok: a client signs in');
    await tryConsent(access_token);
  } finally {
    await deleteClient(auth, name);
  }
}

/** Signs in as the client of the operator. @returns its access token. */
async function signInAt(url: string): Promise<string> {
  const [secret] = (await readSecretFile(settings.SECRETS_DIR, 'test-client')) ?? [];
  if (secret === undefined) throw new StartupError('The secret test-client is missing.');
  const discovery = `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { token_endpoint } = await ask<{ token_endpoint: string }>(discovery);
  // RFC 6749 §2.3.1
  const credentials = [clientId, secret].map(encodeURIComponent).join(':');
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  if (settings.TEST_CLIENT_SCOPE) body.set('scope', settings.TEST_CLIENT_SCOPE);
  if (settings.OIDC_AUDIENCE) body.set('audience', settings.OIDC_AUDIENCE);
  const { access_token } = await ask<{ access_token: string }>(token_endpoint, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body,
  });
  tell(`ok: ${clientId} signs in at ${url}`);
  return access_token;
}

async function tryConsent(token: string): Promise<void> {
  await withModels(token, (models) => giveConsent(token, models));
}

/** Publishes an information and a processing, and removes them afterwards. */
async function withModels(
  token: string,
  use: (models: { info: string; processing: string }) => Promise<void>,
): Promise<void> {
  const ids: string[] = [];
  const publish = async (type: string, data: object) => {
    // With a key of its own it takes no number of the keys that forms gives.
    const model = { type, name, key: `${name}.${type}` };
    const entry = await call<{ id: string; key: string }>('forms', 'POST', '/models', model, token);
    ids.push(entry.id);
    const path = `/models/${entry.id}/versions`;
    const draft = { defaultLanguage: 'en', data: { en: data } };
    const version = await call<{ id: string }>('forms', 'POST', path, draft, token);
    await call('forms', 'PUT', `${path}/${version.id}/status`, { status: 'ACTIVE' }, token);
    return entry.key;
  };
  try {
    const info = await publish('information', information);
    await use({ info, processing: await publish('processing', processing) });
  } finally {
    await withDatabase('forms', (forms) => removeModels(forms, ids, token));
    tell('ok: what was published is removed');
  }
}

/** Models without answers are removed, not only marked: the only answers to these have been removed. */
async function removeModels(forms: Database, ids: readonly string[], token: string): Promise<void> {
  await forms.query(sql`UPDATE models AS m SET answered = false WHERE m.id = ANY(${ids}::uuid[])`);
  for (const id of ids) await call('forms', 'DELETE', `/models/${id}`, undefined, token);
  // No later model can have such a key.
  await forms.query(sql`DELETE FROM retired_keys AS k WHERE starts_with(k.key, ${name})`);
}

async function giveConsent(token: string, models: { info: string; processing: string }): Promise<void> {
  const context = { subject: name, layoutData: { info: models.info, elements: [models.processing] } };
  const created = await call<{ id: string }>('transactions', 'POST', '/consents', context, token);
  try {
    const page = `/consents/${created.id}`;
    const answers = { [`element/processing/${models.processing}/1.0`]: 'accepted' };
    const { state } = await call<{ state: string }>('transactions', 'POST', `${page}/submit`, answers, token);
    if (state !== 'COMMITTED') throw new StartupError(`the transaction is ${state} after the answers`);
    await call('transactions', 'GET', `/receipts/${created.id}`, undefined, token);
    tell('ok: a subject consents, and has a receipt');
  } finally {
    await withDatabase('transactions', (db) => removeTransaction(db, created.id));
    tell('ok: the transaction and its record are removed');
  }
}

/** Removes a transaction and all that belongs to it. */
async function removeTransaction(db: Database, id: string): Promise<void> {
  await db.withTransaction(async (tx) => {
    await tx.query(sql`DELETE FROM records AS r WHERE r.transaction = ${id}`);
    await tx.query(sql`DELETE FROM receipts AS r WHERE r.transaction = ${id}`);
    await tx.query(sql`DELETE FROM transaction_history AS h WHERE h.transaction = ${id}`);
    await tx.query(sql`DELETE FROM context_claims AS c WHERE c.transaction = ${id}`);
    await tx.query(sql`DELETE FROM transactions AS t WHERE t.id = ${id}`);
    await tx.query(sql`DELETE FROM subjects AS s WHERE s.name = ${name}`);
  });
}

async function call<Answer>(
  service: string,
  method: string,
  path: string,
  body?: object,
  token?: string,
): Promise<Answer> {
  const isForm = body instanceof URLSearchParams;
  return ask<Answer>(`http://${services[service]}:8080${path}`, {
    method,
    headers: {
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(body && !isForm && { 'Content-Type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
}

async function ask<Answer>(url: string, init: RequestInit = {}): Promise<Answer> {
  const { method = 'GET', headers } = init;
  const answer = await fetch(url, {
    ...init,
    headers: { Accept: 'application/json', ...headers },
    signal: AbortSignal.timeout(10_000),
  });
  const text = await answer.text();
  if (!answer.ok) throw new StartupError(`${method} ${url} answers ${answer.status}: ${text}`);
  return (text ? JSON.parse(text) : undefined) as Answer;
}

/** Opens the database with the role of a service. */
async function withDatabase(service: string, use: (db: Database) => Promise<void>): Promise<void> {
  const url = await databaseLogin(settings.DATABASE_URL as string, {
    user: roleOf(service),
    name: service,
    secretsDir: settings.SECRETS_DIR,
  });
  const pool = createPool({ url, schema: service, log: createLogger({ level: 'error' }), max: 1 });
  try {
    await use(createDatabase({ pool }));
  } finally {
    await pool.end();
  }
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}
