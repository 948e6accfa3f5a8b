import type { Context } from 'koa';
import type { OwnerVerdict, PeerSummary } from '#lib/contracts/parts.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import type { AcknowledgementContent, SignAcknowledgement } from '../domain/acknowledgement.ts';
import { bodyDigest } from '../domain/signatures.ts';
import { stopAsking } from '../queries/deliveries.ts';
import { peerOf } from './authenticate.ts';

/** /federation/submissions and /federation/decisions. Every 200 is a signed acknowledgement. */
export function partHandlers(
  { db, transactions, log, recordRejection }: Dependencies,
  sign: SignAcknowledgement,
) {
  function acknowledge(ctx: Context, sid: string, content: AcknowledgementContent): void {
    const digest = bodyDigest(ctx.state.rawBody ?? new Uint8Array());
    ctx.body = { receipt: sign(content, { sid, digest, audience: peerOf(ctx).url }) };
  }

  /**
   * Acknowledges a decision, a withdrawal or an erasure. All three end a held part, so the leader is no
   * longer asked for its decision.
   */
  async function acknowledgeEnd(
    ctx: Context,
    sid: string,
    judge: (part: { peer: PeerSummary; sid: string }) => Promise<OwnerVerdict>,
  ): Promise<void> {
    const peer = peerOf(ctx);
    const verdict = await judge({ peer, sid });
    await stopAsking(db, { url: peer.url, sid });
    acknowledge(ctx, sid, verdict);
  }

  return {
    /** The owner receives a part. */
    async acceptSubmission(ctx, { params: { sid }, body: submission }) {
      const peer = peerOf(ctx);
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
    async decideSubmission(ctx, { params, body: { decision } }) {
      await acknowledgeEnd(ctx, params.sid, (part) => transactions.decideSubmission({ ...part, decision }));
    },

    /** The owner learns that a part was withdrawn at the leader. */
    async withdrawSubmission(ctx, { params, body: { withdrawn } }) {
      await acknowledgeEnd(ctx, params.sid, (part) =>
        transactions.withdrawSubmission({ ...part, withdrawn }),
      );
    },

    /** The owner learns that the person of a part was erased at the leader. */
    async eraseSubmission(ctx, { params }) {
      const follows = ctx.state.followsErasures as boolean;
      await acknowledgeEnd(ctx, params.sid, (part) => transactions.eraseSubmission({ ...part, follows }));
    },

    /** The leader answers an owner's request for the decision about a held part. */
    async readDecision(ctx, { params: { sid } }) {
      const { decision } = await transactions.readDecision({ sid, peer: peerOf(ctx).url });
      ctx.set('Cache-Control', 'no-store');
      acknowledge(ctx, sid, { decision });
    },
  } satisfies OperationHandlers;
}
