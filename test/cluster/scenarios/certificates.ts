import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { connect } from 'node:tls';
import { createCertificate } from '../../infrastructure/cluster/certificates.ts';
import { routerAddress } from '../router.ts';
import { type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { useConsole } from './console.ts';
import { withoutFailure } from './under-load.ts';

/** What must happen before certificates expire. */
export const certificateScenarios: Scenario[] = [
  {
    name: 'certificates',
    promise:
      "The router's certificate and the authority that signs it are renewed without a failed request, and the services trust the new ones.",
    async run(stage) {
      const figures = await withoutFailure(stage, () => renew(stage));
      // The console calls the instance at its public address.
      await useConsole(stage.organisation);
      return figures;
    },
  },
];

/** The services trust both authorities, then the certificate changes, then they trust only the new one. */
async function renew({ organisation, certificates, nextCertificates }: Stage): Promise<void> {
  const host = new URL(organisation.url).host;
  const read = (folder: string, file: string) => readFile(path.join(folder, file), 'utf8');
  const [old, next] = await Promise.all([certificates, nextCertificates].map((each) => read(each, 'ca.crt')));
  const change = (name: string, data: Record<string, string>) =>
    organisation.kubectl('patch', 'secret', name, `--patch=${JSON.stringify({ stringData: data })}`);
  await change('router-ca', { 'ca.crt': `${old}${next}` });
  await organisation.deploy();
  const names = { subject: `/CN=${host}`, alternatives: [`DNS:${host}`] };
  await createCertificate(nextCertificates, { name: host, ...names });
  const [certificate, key] = await Promise.all(
    ['crt', 'key'].map((suffix) => read(nextCertificates, `${host}.${suffix}`)),
  );
  await change('router-tls', { 'tls.crt': certificate as string, 'tls.key': key as string });
  await waitUntil('the router presents the new certificate', () => isTrusted(host, next as string));
  await change('router-ca', { 'ca.crt': next as string });
  await organisation.deploy();
}

function isTrusted(host: string, authority: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: routerAddress, port: 443, servername: host, ca: authority });
    const end = (trusted: boolean) => {
      socket.destroy();
      resolve(trusted);
    };
    socket.once('secureConnect', () => end(true)).once('error', () => end(false));
  });
}
