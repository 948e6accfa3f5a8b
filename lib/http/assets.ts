import { createHash } from 'node:crypto';
import path from 'node:path';
import { type EncodedBody, encodeOnce } from '#lib/http/send.ts';

/** A file that pages load. */
export interface Asset {
  body: EncodedBody;
  /** Media type, with charset. */
  type: string;
  /** Strong validator, with quotes. */
  etag: string;
  /** True for URLs with a hash or version, which are cached for a year; others are revalidated. */
  immutable: boolean;
}

export interface Assets {
  /**
   * The URL of an asset with its hash: `accord.css` → `/assets/accord.1a2b3c4d5e.css`.
   * @throws Error on an unknown name.
   */
  url(name: string): string;
  /** The asset at a request path, with or without a hash; null if there is none. */
  get(requestPath: string): Asset | null;
}

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.xsd': 'application/xml; charset=utf-8',
};

/**
 * Gives each file two URLs below a path: one with its hash, one without.
 * @param sources the texts that each file consists of, by its name.
 * @param more files with other URLs, made from the former.
 */
export function createAssetSet(
  folderPath: string,
  sources: Readonly<Record<string, readonly string[]>>,
  more: (byPath: ReadonlyMap<string, Asset>) => Iterable<[string, Asset]> = () => [],
): Assets {
  const urls = new Map<string, string>();
  const byPath = new Map<string, Asset>();
  for (const [name, parts] of Object.entries(sources)) {
    const asset = createAsset(name, parts.join('\n'));
    const { ext, name: base } = path.parse(name);
    const url = `${folderPath}/${base}.${asset.etag.slice(1, -1)}${ext}`;
    urls.set(name, url);
    byPath.set(url, { ...asset, immutable: true });
    byPath.set(`${folderPath}/${name}`, asset);
  }
  for (const [url, asset] of more(byPath)) byPath.set(url, asset);
  return {
    url(name) {
      const url = urls.get(name);
      if (!url) throw new Error(`Unknown asset ${name}`);
      return url;
    },
    get: (requestPath) => byPath.get(requestPath) ?? null,
  };
}

export function createAsset(name: string, text: string): Asset {
  const etag = `"${createHash('sha256').update(text).digest('hex').slice(0, 12)}"`;
  const type = mediaTypes[path.extname(name)] ?? 'application/octet-stream';
  return { body: encodeOnce(text), type, etag, immutable: false };
}
