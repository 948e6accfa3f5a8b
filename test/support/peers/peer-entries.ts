import type { CataloguePeer, PeerEntry } from '#lib/contracts/peer-entries.ts';
import type { FormsService } from '../instances/forms-service.ts';
import { sampleContent } from '../samples/forms-models.ts';

/** A partner instance as its catalogue is stored under. */
export function samplePeer(url = 'https://lab.example:8443', name = 'Northern Lab'): CataloguePeer {
  return { url, name, sealingKey: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' } };
}

/** An entry as a partner shares it. */
export function sharedEntry(changes: Partial<PeerEntry> = {}): PeerEntry {
  const type = (changes.type ?? 'processing') as 'processing';
  return {
    key: 'study',
    type,
    name: 'A study',
    serial: '1.0',
    defaultLanguage: 'en',
    data: { en: sampleContent[type] },
    ...changes,
  };
}

/** The information under which a partner's elements are shown. */
export const sharedInformation = sharedEntry({ key: 'about.us', type: 'information', name: 'Lab' });

let states = 0;

/** Has the forms service keep a peer's whole catalogue. @returns what it did not take. */
export async function keepCatalogue(
  { operations }: Pick<FormsService, 'operations'>,
  peer: CataloguePeer,
  entries: PeerEntry[],
): Promise<string[]> {
  states += 1;
  const state = `state ${states}`;
  const { refused } = await operations.storePeerEntries({ peer, state, entries });
  const asOf = new Date().toISOString();
  const { held } = await operations.finishPeerCatalogue({ url: peer.url, state, asOf });
  if (!held) throw new Error('The catalogue was not kept.');
  return refused;
}
