import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Manifest } from './chart.ts';

/** The content of Secrets, by name and key. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Starts an API server that knows the kinds of some manifests, and has Secrets and nothing else, for `lookup`
 * in templates. It stops after the test.
 * @returns its address, and a function that replaces the Secrets.
 */
export async function startSecretsApi(
  manifests: readonly Manifest[],
): Promise<{ url: string; store(secrets: Secrets): void }> {
  const kinds = new Map([['v1', new Set(['Secret'])]]);
  for (const { apiVersion, kind } of manifests)
    kinds.set(apiVersion, (kinds.get(apiVersion) ?? new Set()).add(kind));
  let stored: Secrets = {};
  const answer = (pathname: string): object | undefined => {
    if (pathname === '/version') return { major: '1', minor: '34', gitVersion: 'v1.34.0' };
    if (pathname === '/api') return { kind: 'APIVersions', versions: ['v1'] };
    if (pathname === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(kinds) };
    const groupVersion = pathname.match(/^\/apis?\/((?:[^/]+\/)?v1|[^/]+\/v\w+)$/)?.[1] ?? '';
    if (kinds.has(groupVersion)) return resourcesOf(groupVersion, kinds.get(groupVersion) ?? new Set());
    const name = pathname.match(/^\/api\/v1\/namespaces\/consent\/secrets\/([^/]+)$/)?.[1] ?? '';
    const data = stored[name];
    return data && { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data };
  };
  const server = createServer((request, response) => {
    const body = answer(new URL(request.url ?? '/', 'http://api').pathname);
    response.writeHead(body ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body ?? { kind: 'Status', apiVersion: 'v1', reason: 'NotFound', code: 404 }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const store = (secrets: Secrets) => {
    stored = secrets;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, store };
}

function groupsOf(kinds: ReadonlyMap<string, unknown>): object[] {
  return [...kinds.keys()]
    .filter((groupVersion) => groupVersion.includes('/'))
    .map((groupVersion) => {
      const [name, version] = groupVersion.split('/');
      return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
    });
}

function resourcesOf(groupVersion: string, kinds: ReadonlySet<string>): object {
  const resources = [...kinds].map((kind) => {
    const singularName = kind.toLowerCase();
    return { name: `${singularName}s`, singularName, namespaced: true, kind, verbs: ['get'] };
  });
  return { kind: 'APIResourceList', groupVersion, resources };
}
