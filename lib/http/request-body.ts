import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Failure, fail } from '#lib/errors/fail.ts';
import {
  checkJson,
  DuplicateMember,
  malformedAt,
  parseForeignJson,
  TooManyValues,
} from '#lib/json/check-json.ts';

/** Bounds the memory of request bodies that are still arriving, because clients may send them slowly. */
export interface BodyBudgets {
  /** The budget of one client. */
  of(client: string): BodyBudget;
}

export interface BodyBudget {
  /** @returns false if there is no memory left for so many bytes. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/** Limit for all bodies together: about thirty of the largest that the contract allows. */
const maxBodyBytes = 64 * 1024 * 1024;

/**
 * A client may use as much as it leaves free for others: one client half of the memory, two a third each
 * (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6/2, 1998). So no number of
 * slow bodies of one client keeps the bodies of another out.
 */
export function createBodyBudgets(): BodyBudgets {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    of: (client) => ({
      take(bytes) {
        const ofClient = (taken.get(client) ?? 0) + bytes;
        if (ofClient > maxBodyBytes - total - bytes) return false;
        taken.set(client, ofClient);
        total += bytes;
        return true;
      },
      release(bytes) {
        total -= bytes;
        const left = (taken.get(client) ?? 0) - bytes;
        if (left > 0) taken.set(client, left);
        else taken.delete(client);
      },
    }),
  };
}

/** A body counts against the budget from this size on, so that small ones are never rejected. */
const freeBytes = 64 * 1024;

/**
 * Reads a request body of at most `limit` bytes. The rest of a larger one is discarded, so that the client
 * gets the response instead of a broken connection; `requestTimeout` bounds how long that takes.
 * @param budget memory for all bodies that are still arriving.
 * @throws Failure `too-large`; `unavailable` if the budget is used up; `malformed` if the connection breaks;
 * `unsupported-media-type` for an encoded body.
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  budget?: BodyBudget,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding && encoding !== 'identity')
    throw fail('unsupported-media-type', 'Content-Encoding is not supported; send the body without it.');
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
    const broken = (cause?: unknown) => reject(fail('malformed', 'The body is incomplete.', { cause }));
    const onClose = () => broken();
    request.on('end', () => {
      request.off('close', onClose);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on('error', broken);
    request.on('close', onClose);
  });
  return reading.finally(() => budget?.release(counted));
}

function noRoom(): Failure {
  return fail('unavailable', 'Too many large bodies are being received. Please try again.', {
    headers: { 'Retry-After': '5' },
    overload: true,
  });
}

/**
 * Parses a JSON body: valid UTF-8, at most 20,000 values, unique names of members, and the rules of
 * `checkJson`.
 * @throws Failure `malformed`.
 */
export function parseJson(body: Buffer): unknown {
  let value: unknown;
  try {
    value = parseForeignJson(body);
  } catch (cause) {
    if (cause instanceof DuplicateMember) throw malformedAt(cause.pointer, cause.message);
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

/**
 * Waits until an unread body has arrived, if the connection ends with this response. Closing the connection
 * earlier would reset it, and the response would be lost. `requestTimeout` bounds the wait.
 */
export async function drainBody(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const isKept = response.shouldKeepAlive && response.getHeader('connection') !== 'close';
  if (isKept || request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    request.once('close', () => resolve());
    request.resume();
  });
}
