import { expect } from 'vitest';
import { exportFolder } from '#lib/evidence/export-folder.ts';
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
  const token = headers.Authorization?.replace('Bearer ', '') ?? '';
  let minutes = 0;
  return until(async () => {
    minutes += 2;
    await letTimePass(instance, `${minutes} minutes`, 'peers');
    const folder = await temporaryFolder();
    const exported = await exportFolder({ url: instance.url, token, folder });
    expect(exported.receipts).toBeGreaterThanOrEqual(receipts);
    return folder;
  });
}
