import type { Random } from '../random.ts';
import type { Passing, Reply } from './owner-proxy.ts';

/** How requests to the owner of a part are treated. */
export type Manner =
  | 'well'
  /** Connections break before anything arrives. */
  | 'down'
  /** Everything arrives at once, and nothing comes back before the manner changes. */
  | 'slow'
  | 'unavailable'
  | 'forbidden'
  /** 200, and nothing that a partner has signed. */
  | 'garbage'
  /** The owner has done its work, and the connection breaks instead of its reply. */
  | 'reply lost'
  /** Everything arrives twice at the same time, and either of the answers comes back. */
  | 'twice'
  /** What the owner has signed for another request of the same kind comes back, and the owner hears nothing: always for decisions, else at times. */
  | 'mixed up';

/** @param over resolves when the manner changes. @returns undefined if the connection breaks. */
export type Behaviour = (request: Passing, over: Promise<void>) => Promise<Reply | undefined>;

export function behaviours(random: Random): Record<Manner, Behaviour> {
  const formerReplies = new Map<string, { path: string; reply: Reply }>();
  const well: Behaviour = async (request) => {
    const reply = await request.forward();
    if (reply.status === 200) formerReplies.set(kindOf(request), { path: request.path, reply });
    return reply;
  };
  return {
    well,
    down: async () => undefined,
    async slow(request, over) {
      const reply = await request.forward();
      await over;
      return reply;
    },
    unavailable: async () => problem(503),
    forbidden: async () => problem(403),
    garbage: async () =>
      answer(200, random.pick(['', '{', '<html>', '{"receipt":"x.y.z"}', '{"receipt":7}'])),
    async 'reply lost'(request) {
      await request.forward();
      return undefined;
    },
    async twice({ forward }) {
      const replies = await Promise.all([forward(), forward()]);
      return random.pick(replies);
    },
    async 'mixed up'(request, over) {
      const former = formerReplies.get(kindOf(request));
      const isMixedUp =
        former && former.path !== request.path && (request.method === 'POST' || random.between(1, 4) === 1);
      return isMixedUp ? former.reply : well(request, over);
    },
  };
}

/** Requests for the same, but for what they are about; decisions have the same bytes then. */
function kindOf({ method, path, body }: Passing): string {
  const what = path.replace(/\/[\w-]{22}(?=\/|$)/, '/…');
  return `${method} ${what} ${method === 'POST' ? body : ''}`;
}

function answer(status: number, text: string): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(text) };
}

function problem(status: number): Reply {
  const text = JSON.stringify({ type: 'about:blank', title: 'Not today', status });
  return { ...answer(status, text), headers: { 'content-type': 'application/problem+json' } };
}
