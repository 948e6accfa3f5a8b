import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Document, isSeq, type Node, type YAMLMap } from 'yaml';
import { type AccessMapping, readMappings } from './access-mappings.ts';
import type { ModelsApi } from './models-api.ts';
import { isSame } from './proposed-type.ts';
import { type FolderMappings, mappingsFile } from './read-folder.ts';

/**
 * Writes the mappings of an instance into their file, unless it says the same, or the caller may not read
 * them. Comments stay at the mappings that stay.
 * @returns what became of the file; undefined if there is none and none is needed.
 */
export async function pullMappings(
  api: ModelsApi,
  root: string,
  known: FolderMappings | undefined,
): Promise<'written' | 'unchanged' | undefined> {
  const stored = await readMappings(api);
  if (!stored || (stored.length === 0 && !known)) return undefined;
  if (known && isSame(known.mappings, stored)) return 'unchanged';
  const document = known ? merge(known, stored) : new Document({ mappings: stored });
  await writeFile(path.join(root, mappingsFile), document.toString({ lineWidth: 100 }));
  return 'written';
}

function merge({ document: known }: FolderMappings, stored: readonly AccessMapping[]): Document {
  const document = known.clone() as Document;
  const list = document.get('mappings');
  if (!isSeq(list)) return new Document({ mappings: stored });
  const left = [...list.items] as YAMLMap[];
  // The parser gives the comment of the first one to the list.
  const [first] = left;
  if (first && list.commentBefore) first.commentBefore = list.commentBefore;
  list.commentBefore = null;
  list.items = stored.map((mapping) => {
    const place = left.findIndex((node) => isSame(node.toJS(document), mapping));
    return place < 0 ? (document.createNode(mapping) as Node) : left.splice(place, 1)[0];
  });
  return document;
}
