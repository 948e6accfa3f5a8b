import { Agent, request } from 'undici';
import type { SendResult } from '#lib/mail/mail-transport.ts';
import type { OutgoingSms, SmsTransport } from './transport.ts';

const timeoutMs = 15_000;
const maxResponseBytes = 64 * 1024;

/**
 * Sends text messages to an HTTP gateway (docs/messages.md): JSON by default, form fields with
 * `?format=twilio`; Basic authentication with the user of the URL.
 * @param url SMS_URL.
 */
export function createSmsTransport({ url }: { url: string }): SmsTransport {
  const target = new URL(url);
  const isForm = target.searchParams.get('format') === 'twilio';
  const { username, password } = target;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  target.searchParams.delete('format');
  target.username = '';
  target.password = '';
  const dispatcher = new Agent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: maxResponseBytes,
  });
  const headers = {
    'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    ...(username && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
  };
  return {
    async send(sms, stopped, onData) {
      onData?.();
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const { statusCode, body } = await request(target, {
          method: 'POST',
          headers,
          body: isForm ? formFields(sms) : jsonBody(sms),
          dispatcher,
          signal: AbortSignal.any([stopped, timeout]),
        });
        // Only the status counts. An error while reading the body is ignored.
        await body.dump({ limit: maxResponseBytes }).catch(() => {});
        return readStatus(statusCode);
      } catch (error) {
        const failure = error as NodeJS.ErrnoException;
        return {
          result: 'failed',
          error: timeout.aborted ? 'timeout' : classOf(failure),
          ...(!neverSent.test(failure.code ?? '') && { isUnsure: true }),
        };
      }
    },
    close: () => dispatcher.destroy(),
  };
}

function jsonBody({ id, from, to, text }: OutgoingSms): string {
  return JSON.stringify({ id, ...(from !== null && { from }), to, text });
}

function formFields({ from, to, text }: OutgoingSms): string {
  return String(new URLSearchParams({ ...(from !== null && { From: from }), To: to, Body: text }));
}

/** Errors before the gateway could read the request. */
const neverSent =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|CERT_|DEPTH_ZERO|SELF_SIGNED|ERR_TLS)/;

/** 4xx is final, except for a time-out and too many requests. */
function readStatus(status: number): SendResult {
  if (status >= 200 && status < 300) return { result: 'sent' };
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  // A gateway that fails may have passed the message on before.
  const isUnsure = status >= 500 && status !== 503;
  return {
    result: isFinal ? 'refused' : 'failed',
    error: `http-${status}`,
    ...(isUnsure && { isUnsure }),
  };
}

function classOf({ code = '' }: NodeJS.ErrnoException): string {
  if (/TIMEOUT/.test(code)) return 'timeout';
  return /CERT|SIGNED|TLS|SSL/.test(code) ? 'tls' : 'connection';
}
