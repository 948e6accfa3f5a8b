import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { checkpointText } from '#lib/witness/checkpoint-note.ts';
import { isCosignature } from '#lib/witness/cosignature.ts';
import { type NoteKey, noteTypes, readNoteKey } from '#lib/witness/note.ts';

/** Checks and counts the cosignatures of checkpoints, in the order in which they are read. */
export interface CosignatureCounter {
  /** @throws EvidenceFault unless each is a cosignature of its key under a head of the checkpoint. */
  read(given: unknown, heads: Readonly<Record<string, { size: number; root: string }>>, place: string): void;
  /** Witnesses under the heads that were read last, by area. */
  latest(): Record<string, number>;
  /** Names of witnesses under the heads that were read last whose keys are not trusted, by area. */
  strangers(): Record<string, string[]>;
}

/**
 * @param instance base URL. @param trusted keys of witnesses; undefined: those that the folder has, of
 * unknown origin.
 */
export function createCosignatureCounter(
  instance: string,
  trusted: readonly string[] | undefined,
): CosignatureCounter {
  // That the instance is a URL, the other checks say.
  const host = URL.parse(instance)?.host ?? '';
  const known = trusted && new Set(trusted.map((vkey) => identityOf(readKey(vkey, '--witness'))));
  let latest: Record<string, number> = {};
  let strangers: Record<string, string[]> = {};
  return {
    latest: () => latest,
    strangers: () => strangers,
    read(given, heads, place) {
      const witnesses = new Map(Object.keys(heads).map((area) => [area, new Set<string>()]));
      strangers = {};
      let last = '';
      for (const each of readList(given, place)) {
        const { area, witness, signature } = each;
        const head = Object.hasOwn(heads, area) ? heads[area] : undefined;
        const order = orderOf(each);
        if (!head || order <= last)
          throw new EvidenceFault(`${place}: the cosignatures are not those of its heads, in order.`);
        last = order;
        const key = readKey(witness, place);
        const text = checkpointText({
          origin: `${host}/${area}`,
          size: head.size,
          root: Buffer.from(head.root, 'hex'),
        });
        if (!isCosignature(signature, text, key))
          throw new EvidenceFault(
            `${place}: the cosignature of ${key.name} under the head of ${area} is not valid.`,
          );
        const identity = identityOf(key);
        if (!known || known.has(identity)) witnesses.get(area)?.add(identity);
        else strangers[area] = [...(strangers[area] ?? []), key.name];
      }
      latest = Object.fromEntries([...witnesses].map(([area, found]) => [area, found.size]));
    },
  };
}

interface ReadCosignature {
  area: string;
  witness: string;
  signature: string;
}

function readList(given: unknown, place: string): ReadCosignature[] {
  if (given === undefined) return [];
  const members = ['area', 'signature', 'witness'];
  const isRead = (each: unknown): each is ReadCosignature =>
    typeof each === 'object' &&
    each !== null &&
    Object.keys(each).sort().join() === members.join() &&
    Object.values(each).every((value) => typeof value === 'string');
  if (Array.isArray(given) && given.length > 0 && given.every(isRead)) return given;
  throw new EvidenceFault(`${place}: the cosignatures are not those of a checkpoint.`);
}

/** Cosignatures as a folder has them: by area and witness, in the order of code units. */
export function inOrder<Each extends Pick<ReadCosignature, 'area' | 'witness'>>(
  all: readonly Each[],
): Each[] {
  return all.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

function orderOf({ area, witness }: Pick<ReadCosignature, 'area' | 'witness'>): string {
  return `${area} ${witness}`;
}

/** @throws EvidenceFault for a text that is no key. */
function readKey(vkey: string, place: string): NoteKey {
  const key = readNoteKey(vkey, noteTypes.cosignature);
  if (key) return key;
  throw new EvidenceFault(`${place}: ${vkey} is not the key of a witness.`);
}

/** One key under two names is one witness. */
function identityOf({ key }: NoteKey): string {
  return key.export({ format: 'jwk' }).x ?? '';
}
