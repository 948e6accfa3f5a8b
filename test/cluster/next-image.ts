import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readVersions } from '#lib/db/schema-versions.ts';
import { transactionsService } from '../../services/transactions/service.ts';
import type { NodeImage } from '../infrastructure/cluster/images.ts';
import type { LocalImage } from '../infrastructure/image.ts';
import { execute } from '../infrastructure/programs.ts';

/** The tag of the later version. */
export const nextTag = 'next';

/**
 * The image of a later version: the same programs with one more migration, which the version before
 * tolerates.
 */
export async function buildNextImage({ archive, name }: LocalImage): Promise<NodeImage> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-next-'));
  const next = `${name.slice(0, name.lastIndexOf(':'))}:${nextTag}`;
  const { length: current } = await readVersions(transactionsService);
  const migration = `${String(current + 1).padStart(4, '0')}_cluster_test.sql`;
  try {
    await writeFile(path.join(work, migration), 'ALTER TABLE transactions ADD COLUMN cluster_test text;\n');
    const file = `FROM docker-archive:${archive}\nCOPY ${migration} /app/services/transactions/migrations/${migration}\n`;
    await writeFile(path.join(work, 'Containerfile'), file);
    const options = { maxBuffer: 1 << 26 };
    await execute(
      'buildah',
      ['build', '--isolation', 'chroot', '--layers=false', '--tag', next, work],
      options,
    );
    const target = `${archive}.next.tar`;
    await rm(target, { force: true });
    await execute('buildah', ['push', next, `docker-archive:${target}:${next}`], options);
    await execute('buildah', ['rmi', '--force', next], options);
    return { archive: target, names: [next] };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
