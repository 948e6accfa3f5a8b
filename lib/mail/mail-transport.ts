import { createRequire } from 'node:module';
import { isLoopback } from '#lib/text/host-name.ts';

const require = createRequire(import.meta.url);

/** A mail ready to be sent. */
export interface OutgoingMail {
  /** Id of the message. `Message-ID` contains it, so that mail servers can recognise a repetition. */
  id: string;
  /** An address, or `Name <address>`. */
  from: string;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** BCP 47. */
  language: string;
  attachments: { filename: string; contentType: string; content: Buffer }[];
  /** URL that ends such mails when it is posted to, in one click (RFC 8058). */
  unsubscribe?: string | undefined;
}

/**
 * Result of one attempt. `refused`: the server will never accept this message. `error` is a class without
 * content or addresses, such as `smtp-550`, `timeout`, `tls`, `http-503`.
 */
export type SendResult =
  | { result: 'sent' }
  /**
   * @param isAway the reply concerns us, not this message: others would fail, too. @param isUnsure the
   * message may have been accepted: its content was being sent, and no reply came.
   */
  | { result: 'refused' | 'failed'; error: string; isAway?: boolean; isUnsure?: boolean };

export interface MailTransport {
  /** @param onData is called before the content is sent: the server cannot have accepted the mail before. */
  send(mail: OutgoingMail, signal: AbortSignal, onData?: () => void): Promise<SendResult>;
  /** Connects and signs in, as for a mail. @returns the failure; undefined if the server is ready. */
  check(): Promise<SendResult | undefined>;
  close(): Promise<void>;
}

export interface MailServer {
  /** MAIL_URL */
  url: string;
  /** MAIL_CA: certificates (PEM) of a private certificate authority. */
  ca?: string | undefined;
  /** Host of BASE_URL: our name in EHLO and in `Message-ID`. */
  host: string;
}

/** Time-outs of a step (DNS, connection, greeting), of a silent connection, and of a whole attempt. */
const stepMs = 10_000;
const silenceMs = 30_000;
const attemptMs = 60_000;

/**
 * Sends mails over SMTP (RFC 5321), each over a connection of its own, so that a stale connection fails no
 * mail. STARTTLS is used whenever it is offered. `?tls=required` requires it, and so do credentials beyond
 * this machine: an attacker could take STARTTLS out of the greeting and get the password (RFC 3207 §6).
 * Certificates are always verified.
 */
export function createMailTransport({ url, ca, host }: MailServer): MailTransport {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const isSecure = protocol === 'smtps:';
  // Loaded only if mails are sent.
  const { createTransport } = require('nodemailer') as typeof import('nodemailer');
  const transport = createTransport({
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: Number(port) || (isSecure ? 465 : 587),
    secure: isSecure,
    requireTLS: searchParams.get('tls') === 'required' || (username !== '' && !isLoopback(hostname)),
    ...(username && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    tls: { rejectUnauthorized: true, ...(ca && { ca }) },
    name: host,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    dnsTimeout: stepMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const watchers = new Map<string, () => void>();
  // The stream of a mail begins to flow when the server has answered DATA with 354.
  transport.use('stream', ({ message }, done) => {
    const create = message.createReadStream.bind(message);
    const [, id = ''] = /^<(.+)@/.exec(message.messageId()) ?? [];
    message.createReadStream = (options) => create(options).once('resume', () => watchers.get(id)?.());
    done();
  });
  return {
    async send({ id, to, language, unsubscribe, ...mail }, stopped, onData) {
      const timeout = AbortSignal.timeout(attemptMs);
      let hasData = false;
      watchers.set(id, () => {
        hasData = true;
        onData?.();
      });
      try {
        await transport.sendMail({
          ...mail,
          to: { name: '', address: to },
          messageId: `<${id}@${host}>`,
          headers: {
            'Auto-Submitted': 'auto-generated',
            'Content-Language': language,
            ...(unsubscribe && {
              'List-Unsubscribe': `<${unsubscribe}>`,
              'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            }),
          },
          signal: AbortSignal.any([stopped, timeout]),
        });
        return { result: 'sent' };
      } catch (error) {
        const { responseCode } = error as SmtpError;
        const failure = timeout.aborted
          ? ({ result: 'failed', error: 'timeout' } as const)
          : readFailure(error as SmtpError);
        return hasData && responseCode === undefined ? { ...failure, isUnsure: true } : failure;
      } finally {
        watchers.delete(id);
      }
    },
    check: () =>
      transport.verify().then(
        () => undefined,
        (error: SmtpError) => readFailure(error),
      ),
    async close() {
      transport.close();
    },
  };
}

/** The members of nodemailer's errors that are read; the others may quote addresses. */
interface SmtpError {
  code?: string;
  /** Code of the system error, which nodemailer replaces in `code`; for example CERT_HAS_EXPIRED. */
  originalCode?: string;
  command?: string;
  responseCode?: number;
}

/** A reply to one of these commands concerns this mail; a reply to another command concerns us. */
const mailCommands = ['MAIL FROM', 'RCPT TO', 'DATA'];
/** Replies to any command that ask for a login or for TLS (RFC 4954 §6, RFC 3207 §4): MAIL_URL is wrong. */
const loginReplies = [530, 534, 535, 538];

const classes: Readonly<Record<string, string>> = {
  EAUTH: 'auth',
  ENOAUTH: 'auth',
  ETLS: 'tls',
  EREQUIRETLS: 'tls',
  ETIMEDOUT: 'timeout',
  EDNS: 'dns',
};

/** A failure as a class without addresses or text. */
function readFailure({ code = '', originalCode = '', command = '', responseCode }: SmtpError): SendResult {
  const known = classes[code];
  // Checked before the reply: an error about missing STARTTLS carries a reply code, too.
  if (known === 'auth' || known === 'tls') return { result: 'failed', error: known };
  if (responseCode !== undefined) {
    if (loginReplies.includes(responseCode)) return { result: 'failed', error: 'auth' };
    const error = `smtp-${responseCode}`;
    if (!mailCommands.includes(command)) return { result: 'failed', error, isAway: true };
    return { result: responseCode >= 500 ? 'refused' : 'failed', error };
  }
  if (code === 'EENVELOPE') return { result: 'refused', error: 'address' };
  const isTls = /CERT|SIGNATURE|SELF_SIGNED|ALTNAME|SSL/.test(originalCode);
  return { result: 'failed', error: known ?? (isTls ? 'tls' : 'connection') };
}
