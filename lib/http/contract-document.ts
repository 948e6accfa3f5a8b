import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Document } from 'openapi-backend';
import { keepText } from '#lib/cache/keep-text.ts';

const require = createRequire(import.meta.url);

/** Reads openapi.yaml. A copy in JSON is kept on disk, because parsing the YAML takes a good part of a start. */
export function readContract(file: URL): Document {
  const text = readFileSync(file, 'utf8');
  const json = keepText({
    name: 'contract',
    sources: [text],
    make: () => JSON.stringify((require('yaml') as typeof import('yaml')).parse(text)),
  });
  return JSON.parse(json) as Document;
}

type PathItem = Record<string, { tags?: string[]; 'x-served-by'?: string } | undefined>;
const methods = new Set(['get', 'put', 'post', 'delete', 'patch']);

/** The part of the contract that one service serves: the operations with its tag. */
export function pruneDocument(document: Document, tag: string): Document {
  const paths: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(document.paths as Record<string, PathItem>)) {
    const kept = Object.entries(item).filter(
      ([method, operation]) =>
        !methods.has(method) || (operation?.tags?.includes(tag) && !operation['x-served-by']),
    );
    if (kept.some(([method]) => methods.has(method))) paths[path] = Object.fromEntries(kept);
  }
  return { ...document, paths } as Document;
}
