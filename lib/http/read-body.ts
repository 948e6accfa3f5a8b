import type { IncomingMessage } from 'node:http';
import { type Failure, fail } from '#lib/errors/fail.ts';
import type { BodyBudget } from '#lib/http/body-budget.ts';
import { checkJson, parseForeignJson, TooManyValues } from '#lib/json/check-json.ts';

/** What a body may hold in memory without counting against the budget, so that small ones always get through. */
const freeBytes = 64 * 1024;

/**
 * Reads a request body of at most `limit` bytes. What comes beyond is let go by unread, so that the client gets its answer
 * instead of a broken connection; requestTimeout bounds how long that lasts.
 * @param budget what all bodies that are still arriving may hold in memory.
 * @throws Failure `too-large`, `unavailable` when there is no room in memory, `malformed` when the connection breaks off, `unsupported-media-type` for an encoded body.
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  budget?: BodyBudget,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding && encoding !== 'identity')
    throw fail('unsupported-media-type', 'Send the body without Content-Encoding.');
  const chunks: Buffer[] = [];
  let size = 0;
  let counted = 0;
  const reading = new Promise<Buffer>((resolve, reject) => {
    const refuse = (failure: Failure) => {
      request.removeAllListeners('data');
      request.resume();
      chunks.length = 0;
      reject(failure);
    };
    const tooLarge = () => refuse(fail('too-large', `The body is larger than ${limit} bytes.`));
    if (Number(request.headers['content-length'] ?? 0) > limit) return tooLarge();
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return tooLarge();
      if (budget && size > freeBytes) {
        if (!budget.take(chunk.length)) return refuse(noRoom());
        counted += chunk.length;
      }
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
  return reading.finally(() => budget?.give(counted));
}

function noRoom(): Failure {
  return fail('unavailable', 'Too many large bodies are being sent at the moment. Please try again.', {
    headers: { 'Retry-After': '5' },
    overload: true,
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
