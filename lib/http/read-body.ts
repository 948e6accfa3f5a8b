import type { IncomingMessage } from 'node:http';
import { fail } from '#lib/errors/fail.ts';

const maxDepth = 16;

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
 * Parses a JSON body: valid UTF-8, at most 16 levels deep, no prototype keys, no lone surrogates and no NUL
 * (PostgreSQL's jsonb stores neither).
 * @throws Failure `malformed`.
 */
export function parseJson(body: Buffer): unknown {
  const text = decodeUtf8(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fail('malformed', 'The body is not valid JSON.');
  }
  checkJson(value, '', 0);
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

/** @throws Failure `malformed` if a text cannot be stored as it was written. */
export function checkText(text: string, pointer: string): void {
  if (!text.isWellFormed()) throw malformedAt(pointer, 'has a lone surrogate');
  if (text.includes('\0')) throw malformedAt(pointer, 'has a NUL character');
}

function checkJson(value: unknown, pointer: string, depth: number): void {
  if (typeof value === 'string') checkText(value, pointer);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) throw malformedAt(pointer, `is nested more than ${maxDepth} levels deep`);
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (key === '__proto__' || key === 'constructor' || key === 'prototype')
      throw malformedAt(at, 'has a name that is not allowed');
    if (!Array.isArray(value)) checkText(key, at);
    checkJson(member, at, depth + 1);
  }
}

function malformedAt(pointer: string, what: string) {
  const shown = pointer.toWellFormed().replaceAll('\0', '');
  return fail('malformed', `The request ${what}.`, {
    errors: [{ pointer: shown.slice(0, 500), code: 'malformed', detail: `The value ${what}.` }],
  });
}
