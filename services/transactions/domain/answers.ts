import { createHmac, createSecretKey, hash, hkdfSync, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import { fail } from '#lib/errors/fail.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { normaliseText } from './values.ts';

/** Code points, as many as a free text may have. */
const maxLength = 4_000;

/**
 * Reads an answers map (openapi.yaml, Answers): a single text becomes a list of one, and `comment`, the one key that names no element,
 * is taken out.
 * @throws Failure `invalid-answer` for one that is too long.
 */
export function splitComment(body: Record<string, unknown>): {
  answers: Record<string, string[]>;
  comment: string | null;
} {
  const { comment, ...answers } = body;
  const given = [comment].flat();
  const text =
    typeof given[0] === 'string' ? readBoundedText(given[0].replaceAll('\r\n', '\n'), maxLength) : '';
  if (given.length > 1 || text === undefined)
    throw fail('invalid-answer', 'The comment is not valid.', {
      errors: [
        { pointer: '/comment', code: 'too-long', detail: 'must be one text of at most 4,000 characters' },
      ],
    });
  return {
    answers: listAnswers(answers),
    comment: text === '' ? null : text,
  };
}

/** A single text is a list of one. @returns a map without a prototype: any name may be one of its keys. */
function listAnswers(given: Record<string, unknown>): Record<string, string[]> {
  const answers: Record<string, string[]> = Object.create(null);
  for (const [name, value] of Object.entries(given))
    answers[name] = typeof value === 'string' ? [value] : (value as string[]);
  return answers;
}

type Answers = Record<string, readonly string[]>;

/** Tells whether two submissions are the same (docs/interface.md). */
export interface AnswersDigests {
  /**
   * @param sealed some of the answers are a peer's: then the digest must not reveal what they were.
   * @param notices identifiers of notices: whether they were named makes no difference.
   */
  of(answers: Answers, sealed: boolean, notices?: readonly string[]): Buffer;
  /** Whether a digest is one of these answers, in whichever way it was made. */
  isOf(digest: Buffer, answers: Answers, notices?: readonly string[]): boolean;
}

/** @param secrets of transaction tokens: the first keys digests, all are tried. */
export function createAnswersDigests(secrets: readonly Uint8Array[]): AnswersDigests {
  const [key, ...former] = secrets.map((secret) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'answers-digest', 32))),
  );
  if (!key) throw new Error('a digest of answers needs a secret');
  const keyed = (given: KeyObject, said: object) =>
    createHmac('sha256', given)
      .update(canonicalize(said) as string)
      .digest();
  return {
    of(answers, sealed, notices) {
      const said = answersSaid(answers, notices);
      // A yes or no is guessed by trying: without the key there is nothing to compare a guess with.
      return sealed ? keyed(key, said) : sha256Canonical(said);
    },
    isOf(digest, answers, notices) {
      const said = answersSaid(answers, notices);
      return (
        digest.equals(sha256Canonical(said)) ||
        [key, ...former].some((each) => digest.equals(keyed(each, said)))
      );
    },
  };
}

/**
 * What counts of an answers map: without `info`, without empty answers and notices, prefixes of later clients cut, texts normalised and
 * values in any order.
 */
function answersSaid(answers: Answers, notices: readonly string[] = []): Record<string, string[]> {
  const said = Object.entries(answers)
    .filter(([name]) => name !== 'info')
    .map(
      ([name, values]) =>
        [
          name.replace(/^bloc\/[^/]+\//, ''),
          values
            .map(normaliseLines)
            .filter((value) => value !== '')
            .sort(),
        ] as const,
    )
    .filter(([name, values]) => values.length > 0 && !(notices.includes(name) && values[0] === 'accepted'));
  return Object.fromEntries(said);
}

function normaliseLines(text: string): string {
  return normaliseText(text.replaceAll('\r\n', '\n'));
}

/** SHA-256 over the canonical JSON (RFC 8785) of a value. Members that are undefined are left out. */
export function sha256Canonical(value: unknown): Buffer {
  return hash('sha256', canonicalize(value) as string, 'buffer');
}
