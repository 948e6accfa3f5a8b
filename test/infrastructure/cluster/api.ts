import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';

/** Reads the resources of a path of the Kubernetes API. @throws if the API server refuses or is away. */
export type ReadApi = <Resource>(path: string) => Promise<Resource[]>;

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

/** Reads over kept connections, which costs a small part of a start of kubectl. */
export async function createApiReader(kubeconfig: string): Promise<ReadApi> {
  const { clusters, users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const decode = (text: string) => Buffer.from(text, 'base64');
  const dispatcher = new Agent({
    connect: {
      ca: decode(cluster['certificate-authority-data']),
      cert: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
    },
  });
  return async (path) => {
    const { statusCode, body } = await request(`${cluster.server}${path}?resourceVersion=0`, { dispatcher });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the API server answered ${path} with ${statusCode}`);
    return JSON.parse(text).items;
  };
}
