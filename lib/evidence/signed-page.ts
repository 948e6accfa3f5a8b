import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** `typ` of the JWS that an instance makes of a page of an export. */
export const pageType = 'accord-export-page+jws';

/** Models, mappings, transactions whose receipt has a line of the audit log, and the other transactions. */
export type ExportPart = 'models' | 'mappings' | 'receipts' | 'others';

/** What an instance signs of a page that it sends (docs/evidence.md, "Export"). */
export interface PageStatement {
  /** Base URL of the instance. */
  iss: string;
  /** Seconds since 1970. */
  iat: number;
  /** The id that the client chose for the export. */
  export: string;
  part: ExportPart;
  /** Number of lines. */
  lines: number;
  /** Of the lines in their canonical form (RFC 8785), each with a line feed; hexadecimal. */
  sha256: string;
  /** Cursor of this page; null: the first one of its part. */
  after: string | null;
  /** Cursor of the next page; null: none follows. */
  next: string | null;
}

/** Types in the order in which an export has models: what forms name comes before them. */
export const modelTypes = [
  'information',
  'theme',
  'email',
  'processing',
  'preference',
  'conditions',
  'layout',
] as const;

/** A line as a file of an export has it. */
export function writeLine(value: object): string {
  return `${canonicalize(value)}\n`;
}

export function digestLines(lines: readonly object[]): string {
  const hash = createHash('sha256');
  for (const line of lines) hash.update(writeLine(line));
  return hash.digest('hex');
}
