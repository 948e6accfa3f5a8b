import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { addCheckpoint, type WitnessDependencies } from '../commands/add-checkpoint.ts';
import { readCosignatures, readNewestNotes } from '../queries/notes.ts';
import { peerOf } from './authenticate.ts';

/** /federation/witness/add-checkpoint and /audit/checkpoints/{area} (docs/evidence.md, "Witnesses") */
export function witnessHandlers(
  dependencies: WitnessDependencies,
  { countRefusal, forgetRefusal }: Pick<RateLimiter, 'countRefusal' | 'forgetRefusal'>,
) {
  return {
    async addCheckpoint(ctx, { body, principal }) {
      const sender = principal.roles.includes('peer') ? peerOf(ctx).url : undefined;
      // Strangers are limited by their wrong requests; a right one does not count.
      if (sender === undefined) await countRefusal(ctx);
      const answer = await addCheckpoint(dependencies, (body ?? Buffer.alloc(0)).toString(), sender);
      if (sender === undefined) await forgetRefusal(ctx);
      if ('line' in answer) {
        ctx.type = 'text/plain';
        ctx.body = `${answer.line}\n`;
        return;
      }
      ctx.status = 409;
      ctx.set('Content-Type', 'text/x.tlog.size');
      ctx.body = `${answer.knownSize}\n`;
    },

    async getCheckpointNote(ctx, { params: { area } }) {
      const [newest] = await readNewestNotes(dependencies.db, area);
      if (!newest) throw fail('not-found', 'There is no checkpoint of this area.');
      const cosigned = await readCosignatures(dependencies.db, [newest]);
      ctx.type = 'text/plain';
      ctx.body = newest.note + cosigned.map(({ signature }) => `${signature}\n`).join('');
    },
  } satisfies OperationHandlers;
}
