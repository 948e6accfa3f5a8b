import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { vi } from 'vitest';

/** A mail that the server has accepted. */
export interface ReceivedMail {
  from: string;
  to: string;
  /** As it was sent. */
  raw: string;
  mail: Email;
  /** False if the connection was closed instead of the final reply. */
  isAcknowledged: boolean;
}

/** Behaviour of the server towards one recipient; absent members behave well. */
export interface MailFaults {
  /** Reply to RCPT. */
  recipient?: number;
  /** Reply to the end of DATA. */
  data?: number;
  /** Never replies to RCPT. */
  isSilent?: boolean;
  /** Closes the connection instead of the final reply: before or after the mail was stored. */
  drops?: 'before' | 'after';
  /** Replies to the end of DATA after this only; the mail is stored before. */
  after?: Promise<void>;
}

export interface MailServer {
  port: number;
  /** MAIL_URL of this server. */
  url: string;
  received: readonly ReceivedMail[];
  /** Mails to one address. */
  to(address: string): ReceivedMail[];
  /** Waits for the n-th mail to an address. */
  waitFor(address: string, count?: number): Promise<ReceivedMail>;
  /** Sets the behaviour towards an address, or towards all others (`*`). */
  behave(address: string, faults: MailFaults): void;
  close(): Promise<void>;
}

/** Starts a real SMTP server that keeps what it accepts. @param options of smtp-server: certificates. */
export async function startMailServer(
  options: SMTPServerOptions = {},
  { login, port = 0 }: { login?: { user: string; pass: string }; port?: number } = {},
): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const faults = new Map<string, MailFaults>();
  const faultsOf = (address: string) => faults.get(address) ?? faults.get('*') ?? {};
  // Servers quote what they refuse.
  const fail = (code: number, quoted = '') =>
    Object.assign(new Error(`refused by the test: ${quoted}`), { responseCode: code });
  const server = new SMTPServer({
    authOptional: login === undefined,
    disabledCommands: [...(login ? [] : ['AUTH']), ...(options.key ? [] : ['STARTTLS'])],
    disableReverseLookup: true,
    closeTimeout: 100,
    ...options,
    onAuth({ username, password }, _session, done) {
      if (username === login?.user && password === login?.pass) done(null, { user: username });
      else done(fail(535));
    },
    onRcptTo({ address }, _session, done) {
      const { recipient, isSilent } = faultsOf(address);
      if (!isSilent) done(recipient ? fail(recipient, address) : null);
    },
    onData(stream, { envelope }, done) {
      const [to] = envelope.rcptTo.map(({ address }) => address);
      const read = buffer(stream).then(async (content) => {
        const { data, drops, after } = faultsOf(to ?? '');
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        const mail = {
          from,
          to: to ?? '',
          raw: content.toString('utf8'),
          mail: await PostalMime.parse(content),
          isAcknowledged: !drops,
        };
        if (data) return done(fail(data, `${to} ${mail.mail.text?.replaceAll(/\s+/g, ' ')}`));
        if (stream.sizeExceeded) return done(fail(552));
        if (drops !== 'before') received.push(mail);
        await after;
        if (!drops) return done(null);
        for (const connection of server.connections) connection._socket?.destroy();
      });
      // The client broke off within the mail.
      read.catch(done);
    },
  });
  server.on('error', () => {});
  const listener = server.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  const bound = (listener.address() as AddressInfo).port;
  const to = (address: string) => received.filter((mail) => mail.to === address);
  const credentials = login ? `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@` : '';
  return {
    port: bound,
    url: `${options.secure ? 'smtps' : 'smtp'}://${credentials}localhost:${bound}`,
    received,
    to,
    waitFor: (address, count = 1) =>
      vi.waitFor(
        () => {
          const mail = to(address)[count - 1];
          if (!mail) throw new Error(`${address} has got ${to(address).length} mails, not ${count}`);
          return mail;
        },
        { timeout: 20_000, interval: 20 },
      ),
    behave: (address, behaviour) => void faults.set(address, behaviour),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The six digits in a mail's plain text. */
export function codeIn({ mail }: Pick<ReceivedMail, 'mail'>): string {
  const code = /(?<!\d)\d{6}(?!\d)/.exec(mail.text ?? '')?.[0];
  if (!code) throw new Error(`no code in: ${mail.text}`);
  return code;
}

/** The short link of a mail. */
export function linkIn({ text = '' }: { text?: string | undefined }): string {
  const link = /https?:\/\/\S+\/l\/[0-9A-HJKMNP-TV-Z]{10}(?!\w)/.exec(text)?.[0];
  if (!link) throw new Error(`no link in: ${text}`);
  return link;
}

/** Where a short link leads: the URL of a transaction, with a token. */
export async function leadsTo(link: string): Promise<string> {
  const response = await fetch(link, { redirect: 'manual' });
  await response.body?.cancel();
  return response.headers.get('location') ?? `${response.status}`;
}
