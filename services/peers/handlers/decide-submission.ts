import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { bodyDigest } from '../domain/body-digest.ts';
import { forgetQuestion } from '../queries/overdue.ts';
import type { SubmissionDependencies } from './dependencies.ts';
import { peerOf } from './peer-of.ts';

/** POST /federation/submissions/{sid}/decision: the leader has decided over a part that is held here. */
export function decideSubmissionHandler({ db, transactions, sign }: SubmissionDependencies) {
  return async (
    ctx: Context,
    { params, body }: OperationInput<components['schemas']['SubmissionDecision']>,
  ) => {
    const peer = peerOf(ctx);
    const sid = params.sid as string;
    const { decision } = body;
    const verdict = await transactions.decideSubmission({ peer, sid, decision });
    await forgetQuestion(db, { url: peer.url, sid });
    const digest = bodyDigest(ctx.state.rawBody as Buffer);
    ctx.body = { receipt: sign(verdict, { sid, digest, audience: peer.url }) };
  };
}
