import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Submission } from '#lib/contracts/submissions.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Handlers, OperationInput } from '#lib/http/operation.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SignAcknowledgement } from '../domain/acknowledgement.ts';
import { bodyDigest } from '../domain/signatures.ts';
import { deleteQuestion } from '../queries/deliveries.ts';
import { peerOf } from './authenticate.ts';

/** /federation/submissions and /federation/decisions. Every answer is a signed acknowledgement. */
export function partHandlers({
  db,
  transactions,
  sign,
  log,
  countRefused,
}: {
  db: Database;
  transactions: Pick<TransactionsOperations, 'acceptSubmission' | 'decideSubmission' | 'readDecision'>;
  sign: SignAcknowledgement;
  log: Logger;
  countRefused: (reason: string) => void;
}) {
  return {
    /** The owner takes its part. */
    async acceptSubmission(ctx: Context, { params, body: submission }: OperationInput<Submission>) {
      const peer = peerOf(ctx);
      const sid = params.sid as string;
      // The signature identifies the leader; the body must agree.
      if (submission.leader.location !== peer.url) {
        countRefused('leader');
        log.warn('part rejected: a peer sent it in the name of another instance', { id: peer.id });
        throw fail(
          'forbidden',
          'leader.location must be the base URL of the instance that signed the request.',
        );
      }
      const digest = bodyDigest(ctx.state.rawBody as Buffer);
      const verdict = await transactions.acceptSubmission({ peer, sid, digest, submission });
      ctx.body = { receipt: sign(verdict, { sid, digest, audience: peer.url }) };
    },

    /** The owner learns the leader's decision over a part that it holds. */
    async decideSubmission(
      ctx: Context,
      { params, body: { decision } }: OperationInput<components['schemas']['SubmissionDecision']>,
    ) {
      const peer = peerOf(ctx);
      const sid = params.sid as string;
      const verdict = await transactions.decideSubmission({ peer, sid, decision });
      await deleteQuestion(db, { url: peer.url, sid });
      const digest = bodyDigest(ctx.state.rawBody as Buffer);
      ctx.body = { receipt: sign(verdict, { sid, digest, audience: peer.url }) };
    },

    /** The leader tells its decision to an owner that holds a part. */
    async readDecision(ctx, { params }) {
      const { url } = peerOf(ctx);
      const sid = params.sid as string;
      const { decision } = await transactions.readDecision({ sid, peer: url });
      ctx.set('Cache-Control', 'no-store');
      ctx.body = {
        receipt: sign({ decision }, { sid, digest: bodyDigest(new Uint8Array()), audience: url }),
      };
    },
  } satisfies Handlers;
}
