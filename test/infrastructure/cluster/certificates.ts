import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execute } from '../programs.ts';

const address = '10.200.0.2';
const authentication = { client: 'clientAuth', server: 'serverAuth,clientAuth' };

/**
 * Certificates by file name, with the subject that Kubernetes expects (kubernetes.io, "PKI certificates and
 * requirements").
 */
const clients = {
  admin: '/O=system:masters/CN=admin',
  'controller-manager': '/CN=system:kube-controller-manager',
  scheduler: '/CN=system:kube-scheduler',
  'kube-proxy': '/CN=system:kube-proxy',
  'apiserver-kubelet': '/O=system:masters/CN=apiserver-kubelet',
  'front-proxy': '/CN=front-proxy',
} as const;
const withKubeconfig = ['admin', 'controller-manager', 'scheduler', 'kube-proxy', 'kubelet'] as const;

/**
 * Creates the authority, the certificates and the kubeconfigs of a node in a folder, unless they are there.
 */
export async function createClusterCertificates(folder: string): Promise<void> {
  const done = path.join(folder, 'done');
  if (existsSync(done)) return;
  await createAuthority(folder);
  await openssl(folder, 'genrsa', '-out', 'service-accounts.key', '2048');
  await openssl(folder, 'rsa', '-in', 'service-accounts.key', '-pubout', '-out', 'service-accounts.pub');
  const names = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const alternatives = [
    ...names.map((name) => `DNS:${name}`),
    `IP:${address}`,
    'IP:10.96.0.1',
    'IP:127.0.0.1',
  ];
  await createCertificate(folder, { name: 'apiserver', subject: '/CN=kube-apiserver', alternatives });
  await createCertificate(folder, {
    name: 'kubelet',
    subject: '/O=system:nodes/CN=system:node:node1',
    alternatives: ['DNS:node1', `IP:${address}`],
  });
  for (const [name, subject] of Object.entries(clients)) await createCertificate(folder, { name, subject });
  for (const name of withKubeconfig) await writeKubeconfig(folder, name);
  await writeFile(done, '');
}

/** Creates ca.key and ca.crt in a folder. */
export async function createAuthority(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await openssl(folder, 'ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'ca.key');
  const words = ['-x509', '-new', '-key', 'ca.key', '-days', '365', '-subj', '/CN=Accord cluster test'];
  await openssl(folder, 'req', ...words, '-out', 'ca.crt');
}

/**
 * Creates <name>.key and <name>.crt, signed by the authority of the folder; a server's if it has alternative
 * names.
 */
export async function createCertificate(
  folder: string,
  { name, subject, alternatives }: { name: string; subject: string; alternatives?: readonly string[] },
): Promise<void> {
  await openssl(folder, 'ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.key`);
  await openssl(folder, 'req', '-new', '-key', `${name}.key`, '-subj', subject, '-out', `${name}.csr`);
  const extensions = [
    `extendedKeyUsage=${alternatives ? authentication.server : authentication.client}`,
    ...(alternatives ? [`subjectAltName=${alternatives.join(',')}`] : []),
  ];
  await writeFile(path.join(folder, `${name}.ext`), extensions.join('\n'));
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '365'];
  const files = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-extfile', `${name}.ext`];
  await openssl(folder, 'x509', '-req', ...files, ...signing);
}

async function writeKubeconfig(folder: string, name: string): Promise<void> {
  const encoded = async (file: string) => (await readFile(path.join(folder, file))).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'accord',
        cluster: { server: `https://${address}:6443`, 'certificate-authority-data': await encoded('ca.crt') },
      },
    ],
    users: [
      {
        name,
        user: {
          'client-certificate-data': await encoded(`${name}.crt`),
          'client-key-data': await encoded(`${name}.key`),
        },
      },
    ],
    contexts: [{ name: 'accord', context: { cluster: 'accord', user: name } }],
    'current-context': 'accord',
  };
  await writeFile(path.join(folder, `${name}.kubeconfig`), JSON.stringify(config), { mode: 0o600 });
}

function openssl(folder: string, ...words: string[]) {
  return execute('openssl', words, { cwd: folder });
}
