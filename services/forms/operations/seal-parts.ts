import type { DescribedInformation } from '#lib/contracts/forms.ts';
import type { SealedPart } from '#lib/contracts/submissions.ts';
import type { Checked } from '../domain/check-answers.ts';
import { parseIdentifier } from '../domain/identifier.ts';
import { type OpenPart, sealPart } from '../domain/seal-part.ts';
import type { PeerPart } from './read-peer-parts.ts';

type Valid = Extract<Checked, { outcome: 'valid' }>;

/**
 * Takes apart what belongs to peers and seals it; it exists in memory alone until then (docs/federation.md). A peer that was asked nothing
 * gets nothing.
 * @param leader BASE_URL.
 */
export function createSealParts({ leader }: { leader: string }) {
  return (checked: Valid, peers: readonly PeerPart[], until: Date): Promise<SealedPart[]> => {
    const { language } = checked;
    return Promise.all(
      peers.flatMap((peer) => {
        const open = openPart(checked, peer);
        return open ? [sealPart(open, { key: peer.sealingKey, leader, language, until })] : [];
      }),
    );
  };
}

export type SealParts = ReturnType<typeof createSealParts>;

function openPart(
  { language, asked, answers }: Valid,
  { url, name, info, elements }: PeerPart,
): OpenPart | undefined {
  const isTheirs = ({ identifier }: { identifier: string }) =>
    elements.has(parseIdentifier(identifier)?.key ?? '');
  const theirs = asked.filter(isTheirs);
  if (theirs.length === 0) return undefined;
  const shown = info.version.describe(language, info.name, name) as DescribedInformation;
  return { location: url, name, info: shown, asked: theirs, answers: answers.filter(isTheirs) };
}
