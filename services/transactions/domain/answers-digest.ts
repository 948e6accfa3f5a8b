import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import { sha256Canonical } from './context-digest.ts';
import { normaliseText } from './parse-values.ts';

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
