import { createHash, randomUUID } from 'node:crypto';
import { type PrivateKey, publicPart } from '#lib/config/secret-values.ts';
import type { PartRequest, PeerSummary } from '#lib/contracts/parts.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import {
  askedDigest,
  type SealedContent,
  type SealHeader,
  sealAnswers,
} from '#lib/federation/sealed-answers.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import type { TestInstance } from '../instances/instance.ts';

/** A part as the service peers hands it over. */
export type Part = Parameters<TransactionsOperations['acceptSubmission']>[0];

/** Whoever sends parts: paired, as far as transactions can tell. */
export function newPeer(changes: Partial<PeerSummary> = {}): PeerSummary {
  const id = randomUUID();
  return { id, url: `https://${id}.example`, name: 'Hospital', subjectPrefix: '', ...changes };
}

const texts = {
  letter: 'element/processing/processing.001/1.0',
  often: 'element/preference/preference.001/1.0',
  info: 'element/information/information.001/1.0',
};

/** What a test says otherwise than an honest peer. */
export interface PartChanges {
  peer?: PeerSummary;
  sid?: string;
  /** Answers by identifier; they are what was asked, unless `content` says otherwise. */
  answers?: Record<string, string[]>;
  content?: Partial<SealedContent>;
  header?: Partial<SealHeader>;
  submission?: Partial<PartRequest>;
  /** Seals to this key. */
  key?: PrivateKey;
}

/** A part for an instance with the demonstration's models: yes to the newsletter, unless told otherwise. */
export async function makePart(
  { secrets }: Pick<TestInstance, 'secrets'>,
  {
    peer = newPeer(),
    sid = randomId(),
    answers = { [texts.letter]: ['accepted'] },
    ...changes
  }: PartChanges = {},
): Promise<Part> {
  const content: SealedContent = {
    language: 'en',
    info: texts.info,
    elements: Object.keys(answers).sort(),
    answers,
    ...changes.content,
  };
  const key = publicPart(changes.key ?? (secrets.instanceSealing[0] as PrivateKey));
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const digest = [content.info, ...content.elements].every((text) => text.isWellFormed())
    ? askedDigest(content)
    : 'x'.repeat(43);
  const submission: PartRequest = {
    leader: { location: peer.url, id: randomId() },
    subject: `subject-${randomUUID()}`,
    language: 'en',
    validity: 'P6M',
    mode: 'commit',
    sealed: sealAnswers(content, {
      key: key as typeof key & { kid: string },
      header: { sid, leader: peer.url, digest, exp, ...changes.header },
    }),
    ...changes.submission,
  };
  return { peer, sid, digest: digestOf(submission), submission };
}

/** As the service peers digests the body that it got. */
export function digestOf(submission: PartRequest): string {
  return createHash('sha256').update(JSON.stringify(submission)).digest('base64url');
}
