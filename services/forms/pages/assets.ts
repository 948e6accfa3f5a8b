import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EncodedBody, encodeOnce } from '#lib/http/send.ts';

const ownFolder = new URL('../assets/', import.meta.url);
const embedFolder = new URL('../embed/', import.meta.url);
/** Earlier builds of the embedding script: host pages pin them by subresource integrity. */
const releasedFolder = new URL('released/', embedFolder);
const resizerFolder = path.dirname(fileURLToPath(import.meta.resolve('iframe-resizer/js/iframeResizer.js')));

/** A file under `/assets/`. */
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

/** Each asset with the texts that it consists of; there is no build step. */
const sources = (): Record<string, string[]> => ({
  'accord.css': [own('accord.css')],
  'docs.css': [own('docs.css')],
  'page.js': [own('page.js')],
  'docs.js': [own('docs.js')],
  'receipt.xsd': [own('receipt.xsd')],
  'resizer-child.js': [resizer('iframeResizer.contentWindow.min.js')],
  ...embedding(),
});

/**
 * The embedding script for host pages, as a module and as a classic script that reads its own `data-`
 * attributes.
 */
function embedding(): Record<'embed.js' | 'embed.mjs', string[]> {
  const source = readFileSync(new URL('embed.js', embedFolder), 'utf8');
  const tag = readFileSync(new URL('script-tag.js', embedFolder), 'utf8');
  return {
    'embed.mjs': [source],
    'embed.js': ['(() => {', source.replaceAll(/^export /gm, ''), tag, '})();', ''],
  };
}

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.xsd': 'application/xml; charset=utf-8',
};

/** Reads all assets into memory. */
export function createAssets(): Assets {
  const urls = new Map<string, string>();
  const byPath = new Map<string, Asset>();
  for (const [name, parts] of Object.entries(sources())) {
    const asset = createAsset(name, parts.join('\n'));
    const { ext, name: base } = path.parse(name);
    const url = `/assets/${base}.${asset.etag.slice(1, -1)}${ext}`;
    urls.set(name, url);
    byPath.set(url, { ...asset, immutable: true });
    byPath.set(`/assets/${name}`, asset);
  }
  for (const [url, asset] of versionedScripts(byPath)) byPath.set(url, asset);
  return {
    url(name) {
      const url = urls.get(name);
      if (!url) throw new Error(`Unknown asset ${name}`);
      return url;
    },
    get: (requestPath) => byPath.get(requestPath) ?? null,
  };
}

function createAsset(name: string, text: string): Asset {
  const etag = `"${createHash('sha256').update(text).digest('hex').slice(0, 12)}"`;
  const type = mediaTypes[path.extname(name)] ?? 'application/octet-stream';
  return { body: encodeOnce(text), type, etag, immutable: false };
}

/**
 * The embedding script by version, and `embed.json`, which names the current version with its integrity
 * hashes.
 */
function* versionedScripts(assets: ReadonlyMap<string, Asset>): Generator<[string, Asset]> {
  for (const name of readdirSync(releasedFolder).filter((each) => /^embed-.*\.m?js$/.test(each)))
    yield [
      `/assets/${name}`,
      { ...createAsset(name, readFileSync(new URL(name, releasedFolder), 'utf8')), immutable: true },
    ];
  const { version } = JSON.parse(readFileSync(new URL('package.json', embedFolder), 'utf8'));
  const current: Record<string, { src: string; integrity: string }> = {};
  for (const [kind, extension] of [
    ['script', 'js'],
    ['module', 'mjs'],
  ]) {
    const asset = assets.get(`/assets/embed.${extension}`) as Asset;
    const src = `/assets/embed-${version}.${extension}`;
    const hash = createHash('sha384').update(asset.body.plain).digest('base64');
    current[`${kind}`] = { src, integrity: `sha384-${hash}` };
    yield [src, { ...asset, immutable: true }];
  }
  yield ['/assets/embed.json', createAsset('embed.json', JSON.stringify({ version, ...current }))];
}

function own(file: string): string {
  return readFileSync(new URL(file, ownFolder), 'utf8');
}

/** The resizer's script without module loaders, source map and console message. */
function resizer(file: string): string {
  const script = readFileSync(path.join(resizerFolder, file), 'utf8')
    .replace(/^\/\/# sourceMappingURL=.*$/m, '')
    .replace(/^console\.info\(`[^`]*`\)/m, 'void 0');
  return `(function (define, module) {\n${script.trim()}\n})();\n`;
}
