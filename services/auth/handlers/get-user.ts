import type { Handler } from '#lib/http/operation.ts';
import { presentUser } from '../presenters/present-user.ts';

/** GET /user: name and roles of whoever asks, a person or a key. */
export function getUserHandler(): Handler {
  return (ctx, { principal }) => {
    ctx.body = presentUser(principal);
  };
}
