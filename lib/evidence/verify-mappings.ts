import { type ReadObject, requireCanonical } from '#lib/evidence/ndjson.ts';

/** The mappings of AuthZEN in a folder, one a line, in their order. */
export const mappingsName = 'access-mappings.ndjson';

/**
 * Counts the mappings of a folder. What they say is what the instance signed.
 * @throws EvidenceFault for another form than that of an export.
 */
export async function countMappings(lines: AsyncIterable<ReadObject>): Promise<number> {
  let count = 0;
  for await (const read of lines) {
    requireCanonical(read);
    count += 1;
  }
  return count;
}
