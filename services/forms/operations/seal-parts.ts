import type { JWK } from 'jose';
import { isObjection } from '#lib/contracts/element-rules.ts';
import type { CheckedAnswer, DescribedElement, DescribedInformation } from '#lib/contracts/forms.ts';
import type { SealedPart, SubjectContact } from '#lib/contracts/parts.ts';
import { askedDigest, sealAnswers } from '#lib/federation/sealed-answers.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { keyThumbprint } from '#lib/jose/keys.ts';
import type { Checked } from '../domain/check-answers.ts';
import { formatIdentifier, parseIdentifier, parseReference } from '../domain/identifiers.ts';
import type { PeerSection } from './read-peer-sections.ts';

type Valid = Extract<Checked, { outcome: 'valid' }>;

/** What all parts of a submission have in common. */
interface Sealing {
  /** Base URL of this instance. */
  leader: string;
  /** When the subject gave the answers, and the last time at which the owner may open the part. */
  givenAt: Date;
  until: Date;
  /** Contact data for the owner, sealed with the answers. */
  subjectInfos?: SubjectContact | undefined;
  /** `addressConfirmed` of the sealed content. */
  isAddressConfirmed?: boolean | undefined;
}

/**
 * Composes and seals the part of each peer whose elements were asked. Each part names the version of
 * the peer's information that the submission names, else the ACTIVE one. Unsealed parts are never stored.
 */
export function sealParts(
  { language, asked, answers, peerInfos }: Valid,
  peers: readonly PeerSection[],
  sealing: Sealing,
): SealedPart[] {
  return peers.flatMap(({ url, name, info, elements, sealingKey }) => {
    const isOwned = ({ identifier }: { identifier: string }) =>
      elements.has(parseIdentifier(identifier)?.key ?? '');
    const part: UnsealedPart = {
      location: url,
      name,
      info: (peerInfos.get(info.version.host ?? '') ?? info.version).describe(
        language,
        info.name,
        name,
      ) as DescribedInformation,
      asked: asked.filter(isOwned),
      answers: answers.filter((answer) => isOwned(answer) && !isLeftOut(answer)),
    };
    return part.asked.length > 0 ? [sealPart(part, { ...sealing, key: sealingKey, language })] : [];
  });
}

/** Whether it was not said whether the person objects: only the owner knows an earlier objection. */
function isLeftOut({ content, positions }: CheckedAnswer): boolean {
  return isObjection(content) && positions === null;
}

/** A part before its answers are sealed. */
interface UnsealedPart {
  /** The peer's base URL. */
  location: string;
  /** The peer's name. */
  name: string;
  info: DescribedInformation;
  asked: readonly DescribedElement[];
  answers: readonly CheckedAnswer[];
}

/**
 * Seals a part with its owner's key, under the owner's own identifiers (docs/federation.md, "Answers at the
 * leader").
 */
export function sealPart(
  { location, name, info, asked, answers }: UnsealedPart,
  {
    key,
    leader,
    language,
    givenAt,
    until,
    subjectInfos,
    isAddressConfirmed,
  }: Sealing & { key: JWK; language: string },
): SealedPart {
  const sid = randomId();
  const questions = {
    info: ownIdentifier(info.identifier),
    elements: asked.map(({ identifier }) => ownIdentifier(identifier)).sort(),
  };
  const sealed = sealAnswers(
    {
      language,
      ...questions,
      answers: Object.fromEntries(answers.map(({ identifier, value }) => [ownIdentifier(identifier), value])),
      ...(subjectInfos && { subjectInfos }),
      ...(isAddressConfirmed && { addressConfirmed: true }),
    },
    {
      key: { ...key, kid: keyThumbprint(key) },
      header: {
        sid,
        leader,
        digest: askedDigest(questions),
        exp: Math.ceil(until.getTime() / 1000),
        iat: givenAt.getTime() / 1000,
      },
    },
  );
  const elements = asked.map(({ identifier, content }) => ({ identifier, content }));
  return { sid, location, name, sealed, info, elements };
}

/** `element/<type>/<key>@<host>/<serial>` without the host, as the owner writes it. */
function ownIdentifier(identifier: string): string {
  const parsed = parseIdentifier(identifier);
  if (!parsed) throw new Error('the identifier of an element is not valid');
  return formatIdentifier(parsed.type, parseReference(parsed.key)?.key ?? parsed.key, parsed.serial);
}
