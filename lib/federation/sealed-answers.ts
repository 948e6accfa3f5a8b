import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JWK } from 'jose';
import type { SubjectContact } from '#lib/contracts/parts.ts';
import { type CompactJwe, decryptCompact, encryptCompact, readCompact } from '#lib/jose/jwe.ts';
import { privateKeyOf, publicKeyOf } from '#lib/jose/keys.ts';
import { parseForeignJson } from '#lib/json/check-json.ts';

/**
 * Header of a sealed part: not encrypted, but authenticated by the seal (docs/federation.md, "Answers at the
 * leader").
 */
export interface SealHeader {
  /** Id of the part. */
  sid: string;
  /** Base URL of the instance that showed the form. */
  leader: string;
  /** {@link askedDigest} of the content. */
  digest: string;
  /** When the seal expires, in seconds since 1970. */
  exp: number;
  /** When the answers were given, in seconds since 1970. Absent if the leader runs an earlier release. */
  iat?: number | undefined;
}

/**
 * A part: the elements of one owner that were asked, and the answers to them. Identifiers are the owner's,
 * without a host.
 */
export interface SealedContent {
  language: string;
  /** Identifier of the information that was shown. */
  info: string;
  /** Identifiers of the elements that were asked, sorted. */
  elements: string[];
  /** By identifier. */
  answers: Record<string, string[]>;
  /** Contact data, not checked yet. Absent if there are none, or if the leader runs an earlier release. */
  subjectInfos?: SubjectContact;
  /**
   * The person entered the e-mail address before the answers, and the leader sends the part only after a code
   * that was mailed there came back (docs/choices.md). Leaders of earlier releases do not say.
   */
  addressConfirmed?: true;
}

export type Opened =
  | { opened: true; header: SealHeader; content: SealedContent }
  | { opened: false; fault: 'form' | 'unknown-key' | 'not-authentic' | 'content' | 'expired' };

const type = 'accord-answers';
const stepBytes = 1_024;
/** The maximum length of a sealed part (openapi.yaml, `Submission`). */
export const maxSealedLength = 2 * 1024 * 1024;

/**
 * Digest of the elements that were asked of an owner: SHA-256 over the canonical JSON (RFC 8785) of {info,
 * elements}, base64url. Identifiers are the owner's.
 */
export function askedDigest({ info, elements }: { info: string; elements: readonly string[] }): string {
  const text = canonicalize({ info, elements: [...elements].sort() }) as string;
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Seals a part to its owner's key. Afterwards only the owner can read it. The padded length reveals only the
 * number of kilobytes.
 * @param key the owner's public sealing key (P-256) with its thumbprint. @returns a compact JWE.
 */
export function sealAnswers(
  content: SealedContent,
  { key, header }: { key: JWK & { kid: string }; header: SealHeader },
): string {
  const { sid, leader, digest, exp, iat } = header;
  const members = { typ: type, kid: key.kid, sid, leader, digest, exp, iat };
  return encryptCompact(pad(JSON.stringify(content)), { key: publicKeyOf(key), more: members });
}

/**
 * Opens a sealed part with one of the owner's keys. The caller compares the header with the request.
 * @param now compared with `exp`.
 */
export function openAnswers(
  sealed: string,
  { keys, now }: { keys: readonly (JWK & { kid: string })[]; now: Date },
): Opened {
  const jwe = sealed.length <= maxSealedLength ? readCompact(sealed) : undefined;
  const header = jwe && readHeader(jwe);
  if (!header) return { opened: false, fault: 'form' };
  const key = keys.find(({ kid }) => kid === header.kid);
  if (!key) return { opened: false, fault: 'unknown-key' };
  const plaintext = decryptCompact(jwe, privateKeyOf(key));
  if (!plaintext) return { opened: false, fault: 'not-authentic' };
  if (header.exp * 1000 < now.getTime()) return { opened: false, fault: 'expired' };
  const content = readContent(plaintext);
  if (!content) return { opened: false, fault: 'content' };
  const { sid, leader, digest, exp, iat } = header;
  return { opened: true, header: { sid, leader, digest, exp, iat }, content };
}

/** Appends spaces, which JSON parsers ignore. */
function pad(json: string): Uint8Array {
  const bytes = Buffer.from(json);
  return Buffer.concat([bytes, Buffer.alloc(stepBytes - (bytes.length % stepBytes), ' ')]);
}

function readHeader({ header }: CompactJwe): (SealHeader & { kid: string }) | undefined {
  const { kid, sid, leader, digest, exp, iat } = header;
  const isText = (value: unknown) => typeof value === 'string';
  if (header.typ !== type || !isText(kid) || !isText(sid) || !isText(leader) || !isText(digest))
    return undefined;
  if (typeof exp !== 'number' || !Number.isSafeInteger(exp)) return undefined;
  const givenAt = typeof iat === 'number' && Number.isFinite(iat) ? iat : undefined;
  return { kid, sid, leader, digest, exp, iat: givenAt };
}

function readContent(plaintext: Uint8Array): SealedContent | undefined {
  try {
    const given = parseForeignJson(plaintext) as SealedContent;
    const { language, info, elements, answers } = given;
    if (typeof language !== 'string' || typeof info !== 'string' || !isTexts(elements)) return undefined;
    if (typeof answers !== 'object' || answers === null || Array.isArray(answers)) return undefined;
    if (!Object.values(answers).every(isTexts)) return undefined;
    return {
      language,
      info,
      elements,
      answers,
      ...readContact(given.subjectInfos),
      ...(given.addressConfirmed === true && { addressConfirmed: true }),
    };
  } catch {
    return undefined;
  }
}

/** Other members are ignored, so that later releases can add some. */
function readContact(given: unknown): Pick<SealedContent, 'subjectInfos'> {
  if (typeof given !== 'object' || given === null) return {};
  const { emailAddress, phoneNumber } = given as Record<string, unknown>;
  const subjectInfos = {
    ...(typeof emailAddress === 'string' && { emailAddress }),
    ...(typeof phoneNumber === 'string' && { phoneNumber }),
  };
  return Object.keys(subjectInfos).length > 0 ? { subjectInfos } : {};
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
