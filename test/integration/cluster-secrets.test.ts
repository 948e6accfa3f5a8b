import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readClusterAccess } from '#lib/config/cluster-access.ts';
import { fillClusterSecret } from '#lib/config/cluster-secret.ts';
import { definitions, secretShares } from '../../services/definitions.ts';
import { generateMissing } from '../../services/generate-secrets.ts';
import { startLoopbackServer } from '../support/network/loopback-server.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const name = 'accord-secrets';
const entries = [...new Set(definitions.flatMap((definition) => secretShares[definition.name] ?? []))].sort();

interface Stored {
  version: number;
  data: Record<string, string>;
}

interface Write {
  metadata: { name?: string; resourceVersion?: string };
  data: Record<string, string>;
}

/**
 * An API server as far as one Secret goes: reads, server-side apply that creates, and merge patches, with
 * conflicts. @param beforeWrite may change the Secret, as another client would.
 */
async function startApiServer(
  stored: { secret: Stored | undefined },
  { token = 'a token', beforeWrite = () => {} }: { token?: string; beforeWrite?: () => void } = {},
) {
  const certificate = selfSignedCertificate(['localhost']);
  const answer = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const { pathname } = new URL(request.url ?? '', 'https://localhost');
    if (pathname !== `/api/v1/namespaces/consent/secrets/${name}`) return [404, {}];
    if (request.headers.authorization !== 'Bearer a token') return [403, { message: 'secrets is forbidden' }];
    if (request.method === 'GET') return stored.secret ? [200, toObject(stored.secret)] : [404, {}];
    const { data, metadata } = (await json(request)) as Write;
    beforeWrite();
    const { secret } = stored;
    if (request.headers['content-type'] === 'application/apply-patch+yaml' && secret) return [409, {}];
    if (secret && metadata.resourceVersion !== String(secret.version)) return [409, {}];
    stored.secret = { version: (secret?.version ?? 0) + 1, data: { ...secret?.data, ...data } };
    return [secret ? 200 : 201, toObject(stored.secret)];
  };
  const server = await startLoopbackServer(
    (request, response) =>
      void answer(request).then(([status, body]) => {
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      }),
    { certificate },
  );
  onTestFinished(() => server.close());
  const folder = await temporaryFolder();
  const account = { token, 'ca.crt': certificate.cert, namespace: 'consent' };
  for (const [file, text] of Object.entries(account)) await writeFile(path.join(folder, file), text);
  const environment = { KUBERNETES_SERVICE_HOST: 'localhost', KUBERNETES_SERVICE_PORT: String(server.port) };
  return readClusterAccess(environment, folder);
}

function toObject({ version, data }: Stored) {
  return { metadata: { name, resourceVersion: String(version) }, data };
}

describe('the Secret of an instance on Kubernetes', () => {
  it('is created with every secret that the services read', async () => {
    const stored = { secret: undefined as Stored | undefined };
    const access = await startApiServer(stored);
    const added = await fillClusterSecret({ access, name, complete: generateMissing });
    expect(added.sort()).toEqual(entries);
    expect(Object.keys(stored.secret?.data ?? {}).sort()).toEqual(entries);
    expect(new Set(Object.values(stored.secret?.data ?? {})).size, 'each is another').toBe(entries.length);
    expect(await fillClusterSecret({ access, name, complete: generateMissing })).toEqual([]);
    expect(stored.secret?.version).toBe(1);
  });

  it('gets entries that are missing, and keeps those that it has', async () => {
    const stored = { secret: undefined as Stored | undefined };
    const access = await startApiServer(stored);
    await fillClusterSecret({ access, name, complete: generateMissing });
    const { 'webhook-sealing': _, ...kept } = (stored.secret as Stored).data;
    stored.secret = { version: 7, data: kept };
    expect(await fillClusterSecret({ access, name, complete: generateMissing })).toEqual(['webhook-sealing']);
    expect(stored.secret.data).toMatchObject(kept);
  });

  it('is not replaced if another Job creates it at the same time', async () => {
    const stored = { secret: undefined as Stored | undefined };
    const other = Object.fromEntries(
      [...(await generateMissing(new Map()))].map(([entry, text]) => [entry, btoa(text)]),
    );
    const access = await startApiServer(stored, {
      beforeWrite: () => {
        stored.secret ??= { version: 1, data: other };
      },
    });
    expect(await fillClusterSecret({ access, name, complete: generateMissing })).toEqual([]);
    expect(stored.secret?.data).toEqual(other);
  });

  it('stays unchanged if one of its entries is unusable, which is named', async () => {
    const stored = { secret: { version: 1, data: { 'key-pepper': btoa('short') } } };
    const access = await startApiServer(stored);
    await expect(fillClusterSecret({ access, name, complete: generateMissing })).rejects.toThrow(
      'key-pepper',
    );
    expect(stored.secret.version).toBe(1);
  });

  it('is not written without the right to do so, and the reason is given', async () => {
    const access = await startApiServer({ secret: undefined }, { token: 'another token' });
    await expect(fillClusterSecret({ access, name, complete: generateMissing })).rejects.toThrow(
      'The API server did not let this pod read the Secret accord-secrets (403): secrets is forbidden',
    );
  });

  it('is only written in a pod', async () => {
    expect(await runCommand('services/cluster-secrets.ts', [name], { env: {} })).toMatchObject({
      code: 1,
      errors: 'This program runs in a pod of Kubernetes with the token of a service account only.\n',
    });
  });
});
