import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import canonicalize from 'canonicalize';
import { fail } from '#lib/errors/fail.ts';
import { escapePointer } from '#lib/json/pointer.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { normaliseText, sha256Canonical } from '../transaction/values.ts';

/** Code points; the limit of a free text. */
const maxCommentLength = 4_000;

/** An answers map without its comment, and the comment; null if there is none. */
export interface SentAnswers {
  answers: Record<string, string[]>;
  comment: string | null;
}

/**
 * Reads an answers map (openapi.yaml, `Answers`): separates `comment`, and turns single texts into lists.
 * @returns undefined if the comment is too long or not one text ({@link invalidComment}).
 */
export function splitComment(body: Record<string, unknown>): SentAnswers | undefined {
  const { comment, ...answers } = body;
  const given = [comment].flat();
  const text =
    typeof given[0] === 'string' ? readBoundedText(given[0].replaceAll('\r\n', '\n'), maxCommentLength) : '';
  if (given.length > 1 || text === undefined) return undefined;
  // Without a prototype, because a key may have any name.
  const listed: Record<string, string[]> = Object.create(null);
  for (const [name, value] of Object.entries(answers))
    listed[name] = typeof value === 'string' ? [value] : (value as string[]);
  return { answers: listed, comment: text === '' ? null : text };
}

export function invalidComment() {
  return fail('invalid-answer', 'The comment is not valid.', {
    errors: [
      { pointer: '/comment', code: 'too-long', detail: 'must be one text of at most 4,000 characters' },
    ],
  });
}

/** The answers map with its comment, for digests. */
export function withComment({ answers, comment }: SentAnswers): Record<string, string[]> {
  return comment === null ? answers : { ...answers, comment: [comment] };
}

/**
 * The failure of a submission for a form that has changed.
 * @param stale identifiers of answers, shown items and new notices that make the submission stale.
 * @param answers as they were sent. @param prefix pointer to the answers map in the body.
 */
export function staleSerial(
  stale: readonly string[],
  answers: Answers,
  { prefix = '', members }: { prefix?: string; members?: Record<string, unknown> } = {},
) {
  return fail('stale-serial', 'The form has changed since it was shown. Read it again and answer.', {
    errors: stale.map((identifier) => ({
      pointer: `${prefix}/${escapePointer(nameInMap(identifier, answers))}`,
      code: 'stale-serial',
      detail: 'is new or not accepted any more; read the form again',
    })),
    members,
  });
}

type Answers = Readonly<Record<string, readonly string[]>>;

/** The name under which an identifier was sent: with a `bloc/` prefix, or as the value of `info`. */
function nameInMap(identifier: string, answers: Answers): string {
  const names = Object.keys(answers);
  const named = names.find((name) => withoutBlocPrefix(name) === identifier);
  const isInfo = answers.info?.some((value) => withoutBlocPrefix(value) === identifier) ?? false;
  return named ?? (isInfo ? 'info' : identifier);
}

function withoutBlocPrefix(name: string): string {
  return name.replace(/^bloc\/[^/]+\//, '');
}

export type AnswersDigests = ReturnType<typeof createAnswersDigests>;

/**
 * Digests by which equal submissions are recognised (docs/interface.md, "Answers").
 * @param secrets of transaction tokens; keys are derived from them. New digests use the first key.
 */
export function createAnswersDigests(secrets: readonly Uint8Array[]) {
  const [key, ...former] = secrets.map((secret) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'answers-digest', 32))),
  );
  if (!key) throw new Error('digests of answers need a secret');
  const keyed = (by: KeyObject, answers: object) =>
    createHmac('sha256', by)
      .update(canonicalize(answers) as string)
      .digest();
  return {
    /**
     * @param sealed true if some answers were sealed for a peer: the digest is keyed and reveals nothing.
     * @param notices identifiers of notices; naming them or leaving them out gives the same digest.
     */
    of(answers: Answers, sealed: boolean, notices?: readonly string[]): Buffer {
      const normalised = normaliseAnswers(answers, notices);
      // A digest without a key would reveal an answer to anyone who hashes all possible answers.
      return sealed ? keyed(key, normalised) : sha256Canonical(normalised);
    },
    /** Whether `digest` belongs to these answers, keyed or not. */
    matches(digest: Buffer, answers: Answers, notices?: readonly string[]): boolean {
      const normalised = normaliseAnswers(answers, notices);
      return (
        digest.equals(sha256Canonical(normalised)) ||
        [key, ...former].some((each) => digest.equals(keyed(each, normalised)))
      );
    },
  };
}

/** Leaves out `info`, notices, empty answers and `bloc/` prefixes; normalises texts and sorts values. */
function normaliseAnswers(answers: Answers, notices: readonly string[] = []): Record<string, string[]> {
  const normalised: [string, string[]][] = [];
  for (const [sent, values] of Object.entries(answers)) {
    const name = withoutBlocPrefix(sent);
    const texts = values.map((text) => normaliseText(text.replaceAll('\r\n', '\n')));
    const given = texts.filter((text) => text !== '').sort();
    const isNotice = notices.includes(name) && given[0] === 'accepted';
    if (sent !== 'info' && given.length > 0 && !isNotice) normalised.push([name, given]);
  }
  return Object.fromEntries(normalised);
}
