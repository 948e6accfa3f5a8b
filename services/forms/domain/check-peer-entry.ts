import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AnswerableType, PeerEntry } from '#lib/contracts/forms.ts';
import { checkContent } from './check-content.ts';
import { line } from './content/fields.ts';
import type { VersionData } from './model.ts';
import { isModelKey } from './model-key.ts';
import { parseSerial, type Serial } from './serial.ts';

/** What says which version of what it is; its content is not looked at yet. */
export interface PeerVersionHead extends Serial {
  key: string;
  type: 'information' | AnswerableType;
  name: string;
  /** Of the content as it came, in whatever order its members are: what was checked once need not be checked again. */
  digest: Buffer;
}

/** A peer's version that may be shown. */
export interface PeerVersion extends PeerVersionHead {
  defaultLanguage: string;
  data: VersionData;
}

const types: ReadonlySet<string> = new Set(['information', 'processing', 'preference', 'conditions']);

/** Undefined if it is not clear what it is. A peer is not trusted to send what it should. */
export function readPeerHead({
  key,
  type,
  name,
  serial,
  defaultLanguage,
  data,
}: PeerEntry): PeerVersionHead | undefined {
  const numbers = typeof serial === 'string' ? parseSerial(serial) : undefined;
  const title = line(255)(name, '/name', []);
  if (!numbers || !title || typeof key !== 'string' || !isModelKey(key) || !types.has(type)) return undefined;
  const digest = createHash('sha256')
    .update(canonicalize([type, defaultLanguage, data]) as string)
    .digest();
  return { ...numbers, key, type: type as PeerVersionHead['type'], name: title, digest };
}

/** A peer's content by the rules for our own, sanitised by the same sanitiser; undefined if it breaks one (federation.md, "Sharing content"). */
export async function readPeerContent(
  { type }: Pick<PeerVersionHead, 'type'>,
  { defaultLanguage, data }: Pick<PeerEntry, 'defaultLanguage' | 'data'>,
): Promise<Pick<PeerVersion, 'defaultLanguage' | 'data'> | undefined> {
  if (typeof defaultLanguage !== 'string' || typeof data !== 'object' || data === null || Array.isArray(data))
    return undefined;
  const checked = await checkContent(type, { defaultLanguage, data });
  return checked.faults.length === 0 ? { defaultLanguage, data: checked.data } : undefined;
}
