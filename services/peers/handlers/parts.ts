import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { PartRequest } from '#lib/contracts/parts.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Handlers, OperationInput } from '#lib/http/operation.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { AcknowledgementContent, SignAcknowledgement } from '../domain/acknowledgement.ts';
import { bodyDigest } from '../domain/signatures.ts';
import { stopAsking } from '../queries/deliveries.ts';
import { followsErasures } from '../queries/peers.ts';
import { peerOf } from './authenticate.ts';

/** /federation/submissions and /federation/decisions. Every 200 is a signed acknowledgement. */
export function partHandlers({
  db,
  transactions,
  sign,
  log,
  recordRejection,
}: {
  db: Database;
  transactions: Pick<
    TransactionsOperations,
    'acceptSubmission' | 'decideSubmission' | 'withdrawSubmission' | 'eraseSubmission' | 'readDecision'
  >;
  sign: SignAcknowledgement;
  log: Logger;
  recordRejection: (reason: string) => void;
}) {
  function acknowledge(ctx: Context, sid: string, content: AcknowledgementContent): void {
    const digest = bodyDigest(ctx.state.rawBody ?? new Uint8Array());
    ctx.body = { receipt: sign(content, { sid, digest, audience: peerOf(ctx).url }) };
  }

  return {
    /** The owner receives a part. */
    async acceptSubmission(ctx: Context, { params, body: submission }: OperationInput<PartRequest>) {
      const peer = peerOf(ctx);
      const sid = params.sid as string;
      // The signature identifies the leader; the body must agree.
      if (submission.leader.location !== peer.url) {
        recordRejection('leader');
        log.warn('part rejected: a peer sent it in the name of another instance', { id: peer.id });
        throw fail(
          'forbidden',
          'leader.location must be the base URL of the instance that signed the request.',
        );
      }
      const digest = bodyDigest(ctx.state.rawBody as Buffer);
      const verdict = await transactions.acceptSubmission({ peer, sid, digest, submission });
      acknowledge(ctx, sid, verdict);
    },

    /** The owner receives the leader's decision about a part. */
    async decideSubmission(
      ctx: Context,
      { params, body: { decision } }: OperationInput<components['schemas']['SubmissionDecision']>,
    ) {
      const peer = peerOf(ctx);
      const sid = params.sid as string;
      const verdict = await transactions.decideSubmission({ peer, sid, decision });
      await stopAsking(db, { url: peer.url, sid });
      acknowledge(ctx, sid, verdict);
    },

    /** The owner learns that a part was withdrawn at the leader. */
    async withdrawSubmission(ctx, { params }) {
      const peer = peerOf(ctx);
      const sid = params.sid as string;
      const verdict = await transactions.withdrawSubmission({ peer, sid });
      await stopAsking(db, { url: peer.url, sid });
      acknowledge(ctx, sid, verdict);
    },

    /** The owner learns that the person of a part was erased at the leader. */
    async eraseSubmission(ctx, { params }) {
      const peer = peerOf(ctx);
      const sid = params.sid as string;
      const follows = await followsErasures(db, peer.id);
      const verdict = await transactions.eraseSubmission({ peer, sid, follows });
      await stopAsking(db, { url: peer.url, sid });
      acknowledge(ctx, sid, verdict);
    },

    /** The leader answers an owner's request for the decision about a held part. */
    async readDecision(ctx, { params }) {
      const sid = params.sid as string;
      const { decision } = await transactions.readDecision({ sid, peer: peerOf(ctx).url });
      ctx.set('Cache-Control', 'no-store');
      acknowledge(ctx, sid, { decision });
    },
  } satisfies Handlers;
}
