import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { type ErasureDependencies, runErasure } from './erase.ts';
import { erasuresToWorkOn, forgetDigests } from './store.ts';

const page = 100;

/**
 * Works on erasures until they are DONE, also on those that another process left unfinished, and starts those
 * whose hold is over. Several processes may work on the same erasure: the lock of the subject orders them.
 */
export function createEraser(
  dependencies: Pick<ErasureDependencies, 'db' | 'wake'> & {
    instance: Pick<Instance, 'baseUrl' | 'backupRetention'>;
    log: Logger;
    everyMs: number;
  },
): RepeatedWork {
  const { db, log, instance, everyMs } = dependencies;
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      for (const state of ['HELD', 'RUNNING'] as const) {
        let after = '';
        let ids: string[];
        do {
          ids = await erasuresToWorkOn(db, state, { after, limit: page });
          for (const id of ids)
            if (!isStopped())
              // The failure of one erasure does not keep the others waiting.
              await runErasure(dependencies, id, isStopped).catch((error: unknown) =>
                log.warn('failed to work on an erasure; retried at the next interval', { id, error }),
              );
          after = ids.at(-1) ?? '';
        } while (ids.length === page && !isStopped());
      }
      await forgetDigests(db, instance.backupRetention);
    },
    onError: (error) => log.warn('failed to look for erasures; retried at the next interval', { error }),
  });
}
