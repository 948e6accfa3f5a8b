import { expect } from 'vitest';
import { exportFolder } from '#lib/moving/export-folder.ts';
import { createInstanceClient } from '#lib/moving/instance-client.ts';
import type { Caller } from '../instances/callers.ts';
import type { TestInstance } from '../instances/instance.ts';
import { letTimePass } from '../instances/live-database.ts';
import { temporaryFolder } from '../programs/temporary-folder.ts';
import { until } from '../run/until.ts';

/**
 * Exports what a checkpoint covers, which is signed once a minute and may be older than what was just given:
 * lets minutes pass until the export has the receipts.
 * @returns the folder.
 */
export async function exportEvidence(
  instance: Pick<TestInstance, 'url' | 'databaseUrl'>,
  { headers }: Caller,
  receipts: number,
): Promise<string> {
  const source = createInstanceClient({ url: instance.url, headers: async () => headers });
  let minutes = 0;
  return until(async () => {
    minutes += 2;
    await letTimePass(instance, `${minutes} minutes`, 'peers');
    const folder = await temporaryFolder();
    const exported = await exportFolder({ source, folder });
    expect(exported.receipts).toBeGreaterThanOrEqual(receipts);
    return folder;
  });
}
