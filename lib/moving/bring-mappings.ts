import { isDeepStrictEqual } from 'node:util';
import { RefusedError, type Schemas } from '#lib/models/models-api.ts';
import { sayRefusal } from '#lib/moving/bring-models.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';

const address = '/access/mappings';

interface Options {
  isDryRun: boolean;
  notCarried: NotCarried;
  /** Says what was done. */
  say: (line: string) => void;
}

/**
 * Stores the mappings of another instance here, unless there are any: the list is one, because its order
 * counts.
 */
export async function bringMappings(
  target: InstanceClient,
  mappings: readonly Schemas['AccessMapping'][],
  { isDryRun, notCarried, say }: Options,
): Promise<void> {
  if (mappings.length === 0) return;
  const { mappings: here } = await target.read<Schemas['StoredAccessMappings']>(address);
  if (isDeepStrictEqual(here, mappings)) return;
  if (here.length > 0) return leaveOut(notCarried, 'mappings of AuthZEN, because there are others here');
  try {
    // Before the models are made, the instance does not know their keys.
    if (!isDryRun) await target.send('PUT', address, { mappings });
    say(`${isDryRun ? 'Would store' : 'Stored'} ${mappings.length} mappings of AuthZEN here.`);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    leaveOut(notCarried, `mappings of AuthZEN: ${sayRefusal(error)}`);
  }
}
