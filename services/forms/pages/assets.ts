import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ownFolder = new URL('../assets/', import.meta.url);
const resizerFolder = path.dirname(fileURLToPath(import.meta.resolve('iframe-resizer/js/iframeResizer.js')));

/** A file that a browser may fetch under `/assets/`. */
export interface Asset {
  body: Buffer;
  /** Media type, with charset. */
  type: string;
  /** Strong validator, with quotes. */
  etag: string;
  /** True for content-addressed URLs: cache for a year. False for stable ones (`/assets/embed.js`): revalidate. */
  immutable: boolean;
}

export interface Assets {
  /** The content-addressed URL of an asset, e.g. `accord.css` → `/assets/accord.1a2b3c4d5e.css`. @throws Error on a name that does not exist. */
  url(name: string): string;
  /** The asset at a request path (`/assets/…`), under its content-addressed or its plain name; null if there is none. */
  get(requestPath: string): Asset | null;
}

/** Every asset and the parts it is made of, in order. Plain files: what is written is what is served. */
const sources = (): Record<string, string[]> => ({
  'accord.css': [own('accord.css')],
  'docs.css': [own('docs.css')],
  'page.js': [own('page.js')],
  'docs.js': [own('docs.js')],
  'resizer-child.js': [resizer('iframeResizer.contentWindow.min.js')],
  // A host page loads one file: the resizer's host part, then ours.
  'embed.js': [resizer('iframeResizer.min.js'), own('embed.js')],
});

const mediaTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/** Reads all assets once, at start. */
export function createAssets(): Assets {
  const urls = new Map<string, string>();
  const byPath = new Map<string, Asset>();
  for (const [name, parts] of Object.entries(sources())) {
    const body = Buffer.from(parts.join('\n'));
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
    const extension = path.extname(name);
    const url = `/assets/${path.basename(name, extension)}.${hash}${extension}`;
    const asset = { body, type: mediaTypes[extension] ?? 'application/octet-stream', etag: `"${hash}"` };
    urls.set(name, url);
    byPath.set(url, { ...asset, immutable: true });
    byPath.set(`/assets/${name}`, { ...asset, immutable: false });
  }
  return {
    url(name) {
      const url = urls.get(name);
      if (!url) throw new Error(`There is no asset ${name}`);
      return url;
    },
    get: (requestPath) => byPath.get(requestPath) ?? null,
  };
}

function own(file: string): string {
  return readFileSync(new URL(file, ownFolder), 'utf8');
}

/**
 * The resizer looks for a module loader of the page it runs in; a host page's loader is none of its business, and its console is no place
 * to advertise a later version. Source maps are not served.
 */
function resizer(file: string): string {
  const script = readFileSync(path.join(resizerFolder, file), 'utf8')
    .replace(/^\/\/# sourceMappingURL=.*$/m, '')
    .replace(/^console\.info\(`[^`]*`\)/m, 'void 0');
  return `(function (define, module) {\n${script.trim()}\n})();\n`;
}
