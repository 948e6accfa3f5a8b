import type { IncomingMessage } from 'node:http';
import { fail } from '#lib/errors/fail.ts';
import { checkJson, parseForeignJson, TooManyValues } from '#lib/json/check-json.ts';

/**
 * Reads a request body of at most `limit` bytes. What comes beyond is let go by unread, so that the client gets its answer
 * instead of a broken connection; requestTimeout bounds how long that lasts.
 * @throws Failure `too-large`, `malformed` when the connection breaks off, `unsupported-media-type` for an encoded body.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding && encoding !== 'identity')
    throw fail('unsupported-media-type', 'Send the body without Content-Encoding.');
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const refuse = () => {
      request.removeAllListeners('data');
      request.resume();
      reject(fail('too-large', `The body is larger than ${limit} bytes.`));
    };
    if (Number(request.headers['content-length'] ?? 0) > limit) return refuse();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return refuse();
      chunks.push(chunk);
    });
    const broken = (cause?: unknown) => reject(fail('malformed', 'The body ended early.', { cause }));
    const onClose = () => broken();
    request.on('end', () => {
      request.off('close', onClose);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on('error', broken);
    request.on('close', onClose);
  });
}

/**
 * Parses a JSON body: valid UTF-8, at most 20,000 values, and what `checkJson` demands.
 * @throws Failure `malformed`.
 */
export function parseJson(body: Buffer): unknown {
  let value: unknown;
  try {
    value = parseForeignJson(body);
  } catch (cause) {
    if (cause instanceof TooManyValues) throw fail('malformed', `The body ${cause.message}.`);
    throw fail('malformed', `The body is not valid ${cause instanceof TypeError ? 'UTF-8' : 'JSON'}.`);
  }
  checkJson(value);
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8 strictly. @throws Failure `malformed`. */
export function decodeUtf8(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw fail('malformed', 'The body is not valid UTF-8.');
  }
}
