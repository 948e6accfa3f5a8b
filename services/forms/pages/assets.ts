import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Asset, type Assets, createAsset, createAssetSet } from '#lib/http/assets.ts';

const ownFolder = new URL('../assets/', import.meta.url);
const embedFolder = new URL('../embed/', import.meta.url);
/** Earlier builds of the embedding script: host pages pin them by subresource integrity. */
const releasedFolder = new URL('released/', embedFolder);
const resizerFolder = path.dirname(fileURLToPath(import.meta.resolve('iframe-resizer/js/iframeResizer.js')));

/** Each asset with the texts that it consists of; there is no build step. */
const sources = (): Record<string, string[]> => ({
  'accord.css': [own('accord.css')],
  'docs.css': [own('docs.css')],
  'page.js': [own('page.js')],
  'choices.js': [own('choices.js')],
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

/** Reads all assets into memory. */
export function createAssets(): Assets {
  return createAssetSet('/assets', sources(), versionedScripts);
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
