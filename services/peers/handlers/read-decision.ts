import type { Handler } from '#lib/http/operation.ts';
import { bodyDigest } from '../domain/body-digest.ts';
import type { SubmissionDependencies } from './dependencies.ts';
import { peerOf } from './peer-of.ts';

const nothing = bodyDigest(new Uint8Array());

/** GET /federation/decisions/{sid}: a peer that holds a part asks what was decided over it. */
export function readDecisionHandler({ transactions, sign }: SubmissionDependencies): Handler {
  return async (ctx, { params }) => {
    const { url } = peerOf(ctx);
    const sid = params.sid as string;
    const { decision } = await transactions.readDecision({ sid, peer: url });
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { receipt: sign({ decision }, { sid, digest: nothing, audience: url }) };
  };
}
