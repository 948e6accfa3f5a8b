import type { Context } from 'koa';
import type { Submission } from '#lib/contracts/submissions.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { bodyDigest } from '../domain/body-digest.ts';
import type { SubmissionDependencies } from './dependencies.ts';
import { peerOf } from './peer-of.ts';

/** PUT /federation/submissions/{sid}: a part of the answers, sealed to this instance. The verdict is signed. */
export function acceptSubmissionHandler(dependencies: SubmissionDependencies) {
  const { transactions, sign, log, refused } = dependencies;
  return async (ctx: Context, { params, body: submission }: OperationInput<Submission>) => {
    const peer = peerOf(ctx);
    const sid = params.sid as string;
    // The peer is who the key says, never who the body says.
    if (submission.leader.location !== peer.url) {
      refused('leader');
      log.warn('a peer sent a part in the name of another instance', { id: peer.id });
      throw fail('forbidden', 'The submission names another instance as the one that showed the form.');
    }
    const digest = bodyDigest(ctx.state.rawBody as Buffer);
    const verdict = await transactions.acceptSubmission({ peer, sid, digest, submission });
    ctx.body = { receipt: sign(verdict, { sid, digest, audience: peer.url }) };
  };
}
