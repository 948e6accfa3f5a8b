import path from 'node:path';
import { Temporal } from 'temporal-polyfill';
import { createHeldHeads, type HeldHead, type HeldHeads } from '#lib/evidence/held-heads.ts';
import { digestFile } from '#lib/evidence/manifest.ts';
import {
  canonicalText,
  EvidenceFault,
  type ReadObject,
  readObjects,
  readObjectsBackwards,
  requireCanonical,
  requireMembers,
  unreadable,
} from '#lib/evidence/ndjson.ts';
import type { CosignatureCounter } from '#lib/evidence/verify-cosignatures.ts';
import type { VerifyJws } from '#lib/evidence/verify-jws.ts';

/** Size and root of a log, as a checkpoint states them. */
export interface StatedHead {
  area: string;
  size: number;
  root: string;
  /** Of the checkpoint. */
  place: string;
  /** Whether lines that were there at that time are older than the retention. */
  mayBeBlanked: boolean;
}

interface Claims {
  iss: string;
  /** Seconds since 1970. */
  iat: number;
  logs: Record<string, { size: number; root: string }>;
}

interface Options {
  instance: string;
  verify: VerifyJws;
}

/** The checkpoints of a folder. */
export interface Checkpoints {
  /** The heads of the newest one, by area. */
  newest: Readonly<Record<string, { size: number }>>;
  /**
   * All heads, from the oldest checkpoint to the newest. @throws EvidenceFault unless each is later than the
   * one before, and no log is shorter.
   */
  heads(): AsyncGenerator<StatedHead>;
  /** How many were read. */
  count(): number;
}

const fileName = 'checkpoints.ndjson';
const daySeconds = 24 * 60 * 60;

/** @param options.retention ISO 8601; undefined: lines of any age may be blanked. */
export async function openCheckpoints(
  folder: string,
  {
    retention,
    cosignatures,
    ...options
  }: Options & { retention: string | undefined; cosignatures: CosignatureCounter },
): Promise<Checkpoints> {
  const file = path.join(folder, fileName);
  const { lines } = await digestFile(file).catch((error: Error) => {
    throw unreadable(error, fileName);
  });
  const [first] = await readFirst(file);
  if (!first) throw new EvidenceFault(`${fileName} has no checkpoint.`);
  const newest = readClaims(first, options);
  const blankedUntil = retention === undefined ? Number.POSITIVE_INFINITY : timeBefore(newest.iat, retention);
  let count = 0;
  return {
    newest: newest.logs,
    count: () => count,
    async *heads() {
      let earlier: Claims = { iss: '', iat: Number.NEGATIVE_INFINITY, logs: {} };
      for await (const read of readObjectsBackwards(file, lines)) {
        const claims = readClaims(read, options);
        requireLater(claims, earlier, read.place);
        const isCosigned = Object.hasOwn(read.value, 'cosignatures');
        requireMembers(read, ['at', 'jws', 'logs', ...(isCosigned ? ['cosignatures'] : [])]);
        cosignatures.read(read.value.cosignatures, claims.logs, read.place);
        if (read.value.at !== new Date(claims.iat * 1000).toISOString()) throw notSigned(read.place);
        requireCanonical(read);
        const mayBeBlanked = claims.iat <= blankedUntil;
        for (const [area, { size, root }] of Object.entries(claims.logs))
          yield { area, size, root, place: read.place, mayBeBlanked };
        earlier = claims;
        count += 1;
      }
    },
  };
}

async function readFirst(file: string): Promise<ReadObject[]> {
  for await (const read of readObjects(file)) return [read];
  return [];
}

/**
 * The time before which lines may be blanked. A day is allowed for the time between a line and its
 * checkpoint.
 */
function timeBefore(iat: number, retention: string): number {
  const time = Temporal.Instant.fromEpochMilliseconds(iat * 1000).toZonedDateTimeISO('UTC');
  return time.subtract(retention).epochMilliseconds / 1000 + daySeconds;
}

/** @throws EvidenceFault unless the object is what its signature says. */
function readClaims({ value, place }: ReadObject, { instance, verify }: Options): Claims {
  const { iss, iat, logs } = verify(value.jws, { type: 'accord-checkpoint+jwt', place });
  if (canonicalText(value.logs, place) !== canonicalText(logs, place)) throw notSigned(place);
  const at = Math.floor(Date.parse(String(value.at)) / 1000);
  if (at !== iat) throw notSigned(place);
  if (iss !== instance)
    throw new EvidenceFault(`${place}: the checkpoint is of ${iss}, and the keys are of ${instance}.`);
  return { iss: instance, iat: at, logs: readHeads(logs, place) };
}

/** @throws EvidenceFault unless each area has a size and a root. */
function readHeads(logs: unknown, place: string): Claims['logs'] {
  const heads = Object.entries<{ size: number; root: string }>(Object(logs));
  for (const [area, head] of heads) {
    const isHead =
      Number.isSafeInteger(head?.size) && head.size >= 0 && /^[0-9a-f]{64}$/.test(String(head.root));
    if (!isHead || !/^[a-z]+$/.test(area))
      throw new EvidenceFault(`${place}: the head of ${area} is not valid.`);
  }
  return Object.fromEntries(heads);
}

function notSigned(place: string): EvidenceFault {
  return new EvidenceFault(`${place}: the members are not those that were signed.`);
}

/** @throws EvidenceFault unless a checkpoint is later than the one before, and states no shorter log. */
function requireLater(claims: Claims, earlier: Claims, place: string): void {
  if (claims.iat <= earlier.iat)
    throw new EvidenceFault(
      `${place}: not later than the checkpoint of the next line; the order is changed.`,
    );
  const shorter = Object.entries(earlier.logs).find(
    ([area, { size }]) => (claims.logs[area]?.size ?? -1) < size,
  );
  if (shorter)
    throw new EvidenceFault(`${place}: the log ${shorter[0]} is shorter than an earlier checkpoint states.`);
}

/** Checkpoints from elsewhere, which a folder must agree with. */
export interface HeldCheckpoints {
  count: number;
  /** Those of the same area that are not longer, each once, by size. */
  upTo(head: StatedHead): Iterable<StatedHead>;
  /** @throws EvidenceFault for one that states more lines than there are. */
  requireAllRead(): void;
}

/**
 * Reads checkpoints from elsewhere, as the API or a webhook gave them, in any order.
 * @throws EvidenceFault for one that this instance has not signed.
 */
export async function readHeld(file: string, options: Options): Promise<HeldCheckpoints> {
  const name = path.basename(file);
  const byArea = new Map<string, HeldHeads>();
  let count = 0;
  for await (const read of readObjects(file)) {
    const { logs } = readClaims(read, options);
    count += 1;
    for (const [area, { size, root }] of Object.entries(logs)) {
      const heads = byArea.get(area) ?? createHeldHeads();
      byArea.set(area, heads);
      heads.add({ size, root, line: count });
    }
  }
  for (const heads of byArea.values()) heads.sort();
  const placeOf = ({ line }: HeldHead) => `${name}, line ${line}`;
  return {
    count,
    *upTo({ area, size, mayBeBlanked }) {
      const heads = byArea.get(area);
      for (let next = heads?.smallest(); next && next.size <= size; next = heads?.smallest()) {
        heads?.removeSmallest();
        yield { area, size: next.size, root: next.root, place: placeOf(next), mayBeBlanked };
      }
    },
    requireAllRead() {
      for (const [area, heads] of byArea) {
        const next = heads.largest();
        if (next)
          throw new EvidenceFault(
            `${placeOf(next)}: the checkpoint states ${next.size} lines of ${area}, and the folder ends before.`,
          );
      }
    },
  };
}
