import type { Document } from 'openapi-backend';

type PathItem = Record<string, { tags?: string[]; 'x-served-by'?: string } | undefined>;
const methods = new Set(['get', 'put', 'post', 'delete', 'patch']);

/** The part of the contract that one service serves: the operations with its tag (decisions.md, architecture.md). */
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
