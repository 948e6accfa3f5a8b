import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Document } from 'openapi-backend';
import { keepText } from '#lib/cache/keep-text.ts';

const require = createRequire(import.meta.url);

/** Reads the contract. Parsing 5,000 lines of YAML is a good part of a start, so the same as JSON is kept. */
export function readContract(file: URL): Document {
  const text = readFileSync(file, 'utf8');
  const json = keepText({
    name: 'contract',
    sources: [text],
    make: () => JSON.stringify((require('yaml') as typeof import('yaml')).parse(text)),
  });
  return JSON.parse(json) as Document;
}
