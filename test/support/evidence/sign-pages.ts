import { randomUUID } from 'node:crypto';
import { digestLines, type ExportPart, type PageStatement } from '#lib/evidence/signed-page.ts';
import { type FolderFiles, type Json, linesOf, textOf, write } from './folder-files.ts';
import { madeInstance, type Signer } from './make-folder.ts';

/** Divides lines into pages of this many; a part without lines has one page. */
function pagesOf(part: ExportPart, lines: readonly string[], size: number): Omit<PageStatement, 'export'>[] {
  const count = Math.max(1, Math.ceil(lines.length / size));
  return Array.from({ length: count }, (_, page) => {
    const values = lines.slice(page * size, (page + 1) * size).map((line) => JSON.parse(line) as Json);
    return {
      iss: madeInstance,
      iat: 1_790_000_000,
      part,
      lines: values.length,
      sha256: digestLines(values),
      after: page === 0 ? null : `${part} ${page}`,
      next: page === count - 1 ? null : `${part} ${page + 1}`,
    };
  });
}

/** The files with a signature of each page of the models, mappings and records that they have. */
export function signPages(files: FolderFiles, signer: Signer, id: string = randomUUID()): FolderFiles {
  const logged = linesOf(files['audit-consents.ndjson'] ?? '').filter((line) =>
    line.includes('"action":"receipt.signed"'),
  ).length;
  const records = linesOf(files['records.ndjson'] ?? '');
  const pages = [
    ...pagesOf('models', linesOf(files['models.ndjson'] ?? ''), 2),
    ...pagesOf('mappings', linesOf(files['access-mappings.ndjson'] ?? ''), 200),
    ...(logged > 0 ? pagesOf('receipts', records.slice(0, logged), 4) : []),
    ...pagesOf('others', records.slice(logged), 3),
  ];
  const signatures = pages.map((page) => write({ jws: signer.page({ ...page, export: id }) }));
  return { ...files, 'signatures.ndjson': textOf(signatures) };
}
