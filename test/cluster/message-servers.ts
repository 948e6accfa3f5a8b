import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { json, text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { createAuthority, createCertificate } from '../infrastructure/cluster/certificates.ts';
import { execute } from '../infrastructure/programs.ts';

/** Of this machine, in the network of the node: pods reach servers outside of the cluster there. */
const [address, otherAddress] = ['10.200.0.1', '10.200.0.3'] as const;
export const serverNetwork = '10.200.0.0/24';
export const ports = { mail: 2587, sms: 8090 };
/** Where a collector of traces listens. */
export const traceServer = { address, port: 4318, network: serverNetwork };
const user = 'accord';

/** An SMTP server that demands TLS and a login. */
export interface MailServer {
  /** MAIL_URL of this server. */
  url: string;
  /** Certificate of the authority that signs the server's certificate. */
  authority: string;
  /** Recipients of the mails that it has accepted. */
  received: readonly string[];
  close(): Promise<void>;
}

/** @param folder of the authority, which is created. */
async function startMailServer(host: string, folder: string): Promise<MailServer> {
  await createAuthority(folder);
  await createCertificate(folder, { name: 'mail', subject: '/CN=mail', alternatives: [`IP:${host}`] });
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');
  const password = `mail-at-${host}`;
  const received: string[] = [];
  const server = new SMTPServer({
    key: await read('mail.key'),
    cert: await read('mail.crt'),
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth(login, _session, done) {
      if (login.username === user && login.password === password) done(null, { user });
      else done(Object.assign(new Error('wrong password'), { responseCode: 535 }));
    },
    onData(stream, { envelope }, done) {
      text(stream).then(() => {
        received.push(envelope.rcptTo[0]?.address ?? '');
        done(null);
      }, done);
    },
  });
  server.on('error', () => {});
  await once(server.listen(ports.mail, host), 'listening');
  return {
    url: `smtp://${user}:${password}@${host}:${ports.mail}?tls=required`,
    authority: await read('ca.crt'),
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** An SMS gateway that accepts some passwords. */
export interface SmsGateway {
  /** SMS_URL with a password. */
  urlWith(password: string): string;
  passwords: Set<string>;
  /** The text messages that it has accepted, each with the password of its request. */
  received: readonly { to: string; text: string; password: string }[];
  close(): void;
}

async function startGateway(): Promise<SmsGateway> {
  const passwords = new Set<string>();
  const received: { to: string; text: string; password: string }[] = [];
  const server = createServer(async (request, response) => {
    const credentials = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64');
    const password = credentials.toString('utf8').slice(`${user}:`.length);
    const message = (await json(request)) as { to: string; text: string };
    const isKnown = passwords.has(password);
    if (isKnown) received.push({ ...message, password });
    response.writeHead(isKnown ? 202 : 401).end();
  });
  await once(server.listen(ports.sms, address), 'listening');
  return {
    urlWith: (password) => `http://${user}:${password}@${address}:${ports.sms}/send`,
    passwords,
    received,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Two mail servers, each with an authority of its own, and a gateway. */
export interface MessageServers {
  mail: readonly [MailServer, MailServer];
  sms: SmsGateway;
  close(): Promise<void>;
}

/** @param folder in which authorities are created. */
export async function startMessageServers(folder: string): Promise<MessageServers> {
  await execute('ip', ['address', 'replace', `${otherAddress}/24`, 'dev', 'accord-host']);
  const mail = [
    await startMailServer(address, path.join(folder, 'mail-authority')),
    await startMailServer(otherAddress, path.join(folder, 'mail-authority-next')),
  ] as const;
  const sms = await startGateway();
  return {
    mail,
    sms,
    async close() {
      sms.close();
      await Promise.all(mail.map((server) => server.close().catch(() => {})));
    },
  };
}
