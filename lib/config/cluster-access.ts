import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { StartupError } from '#lib/errors/fail.ts';

/** Calls the API server of Kubernetes as the service account of this pod. */
export interface ClusterAccess {
  namespace: string;
  /** @throws StartupError if the API server does not answer. */
  call(options: Call): Promise<{ status: number; body: unknown }>;
}

interface Call {
  method: 'GET' | 'PATCH';
  path: string;
  contentType?: string;
  body?: unknown;
}

/** Where the kubelet mounts the token of the service account. */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const timeoutMs = 10_000;

/** @param folder of the service account's token. @throws StartupError outside a pod that has a token. */
export async function readClusterAccess(
  environment: Record<string, string | undefined>,
  folder = accountFolder,
): Promise<ClusterAccess> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');
  const [token, ca, namespace] = await Promise.all(['token', 'ca.crt', 'namespace'].map(read)).catch(
    () => [],
  );
  if (!host || !port || !token || !ca || !namespace)
    throw new StartupError(
      'This program runs in a pod of Kubernetes with the token of a service account only.',
    );
  const headers = { Authorization: `Bearer ${token.trim()}`, Accept: 'application/json' };
  return {
    namespace: namespace.trim(),
    async call({ method, path: target, contentType, body }) {
      try {
        return await send({ method, target, contentType, body });
      } catch (cause) {
        const reason = (cause as Error).message;
        throw new StartupError(`The API server at ${host}:${port} does not answer: ${reason}.`, { cause });
      }
    },
  };

  async function send({ method, target, contentType, body }: Omit<Call, 'path'> & { target: string }) {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: unknown }>();
    const sent = request(
      {
        host,
        port,
        ca,
        method,
        path: target,
        headers: { ...headers, ...(contentType && { 'Content-Type': contentType }) },
        signal: AbortSignal.timeout(timeoutMs),
      },
      (response) => {
        text(response).then(
          (content) => resolve({ status: response.statusCode ?? 0, body: parse(content) }),
          reject,
        );
      },
    );
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  }
}

/** The API server may answer with plain text, for example behind a proxy. */
function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
