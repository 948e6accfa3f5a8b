import { createHash } from 'node:crypto';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { logoIdOf } from '../domain/content/types.ts';
import { readLogoImage } from '../domain/logo-image.ts';
import { insertNewLogo, type Logo, readLogo } from '../queries/theme-files.ts';
import { logoFields } from './logos.ts';

/** An image that comes with a model, under a name that stands where the path of a logo stands. */
export interface GivenLogo {
  name: string;
  /** Base64. */
  image: string;
}

type Contents = Record<string, unknown>;

/** The contents of a theme with paths in the places of the names of its images. */
export interface PlacedLogos {
  data: Contents;
  /** Those that are stored with the model. */
  logos: Logo[];
  faults: Fault[];
}

const maxBytes = 131_072;

/**
 * Reads the images of a model; nothing is stored. An image that the former version shows keeps its path; any
 * other gets the path that its bytes determine, so that a plan and its application agree.
 */
export async function placeLogos(
  db: Queries,
  { data, logos = [] }: { data: Contents; logos?: readonly GivenLogo[] },
  former: Contents = {},
): Promise<PlacedLogos> {
  if (logos.length === 0) return { data, logos: [], faults: [] };
  const known = (await Promise.all(idsIn(former).map((id) => readLogo(db, id)))).filter((logo) => !!logo);
  const byName = new Map(logos.map(({ name, image }) => [name, readImage(image, known)]));
  const faults: Fault[] = [];
  const used = new Set<Logo>();
  const placed = mapLogos(data, (value, pointer) => {
    if (!byName.has(value)) return value;
    const logo = byName.get(value);
    const detail = 'must be a PNG, JPEG or WebP of at most 128 KiB and 4,096 by 4,096 pixels';
    if (logo) used.add(logo);
    else faults.push({ pointer, code: 'invalid', detail });
    return logo && `/assets/logos/${logo.id}`;
  });
  return { data: placed, logos: [...used], faults };
}

/** Stores the images that are new, with a line of the log for each. */
export async function storeNewLogos(tx: Queries, logos: readonly Logo[], model: string): Promise<void> {
  for (const logo of logos)
    if (await insertNewLogo(tx, logo))
      await recordAction(tx, { action: 'logo.uploaded', target: `model/${model}` });
}

/** @returns undefined for what is no logo. */
function readImage(image: string, known: readonly Logo[]): Logo | undefined {
  const body = Buffer.from(image, 'base64');
  const read = body.length <= maxBytes ? readLogoImage(body) : undefined;
  if (!read) return undefined;
  return known.find((logo) => logo.body.equals(body)) ?? { id: idOf(body), mediaType: read.mediaType, body };
}

/** A UUID of version 8 (RFC 9562, section 5.8) from SHA-256. */
function idOf(body: Buffer): string {
  const bytes = createHash('sha256').update(body).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function idsIn(data: Contents): string[] {
  const ids = new Set<string>();
  mapLogos(data, (value) => {
    const id = logoIdOf(value);
    if (id) ids.add(id);
    return value;
  });
  return [...ids];
}

/** Contents with other texts in the places of logos. A text that becomes undefined is left out. */
function mapLogos(data: Contents, map: (value: string, pointer: string) => string | undefined): Contents {
  return Object.fromEntries(
    Object.entries(data).map(([language, content]) => {
      if (typeof content !== 'object' || content === null) return [language, content];
      const mapped: Contents = { ...content };
      for (const field of logoFields) {
        const value = mapped[field];
        if (typeof value !== 'string') continue;
        const other = map(value, `/data/${language}/${field}`);
        if (other === undefined) delete mapped[field];
        else mapped[field] = other;
      }
      return [language, mapped];
    }),
  );
}
