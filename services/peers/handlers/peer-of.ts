import type { Context } from 'koa';
import type { SendingPeer } from '#lib/contracts/submissions.ts';

/** Notes which peer has signed a request. */
export function notePeer(ctx: Context, { id, url, name, subjectPrefix }: SendingPeer): void {
  ctx.state.peer = { id, url, name, subjectPrefix } satisfies SendingPeer;
}

/** The peer that has signed a request of role `peer`. */
export function peerOf(ctx: Context): SendingPeer {
  return ctx.state.peer as SendingPeer;
}
