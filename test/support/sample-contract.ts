import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The product's own contract, parsed. */
export const sampleContract: Record<string, unknown> = parse(
  readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'),
);
