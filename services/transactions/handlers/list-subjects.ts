import { isPrivileged } from '#lib/contracts/principal.ts';
import { readCursor, readLimit, uuidPattern, writeCursor } from '#lib/http/cursor.ts';
import type { Handler } from '#lib/http/operation.ts';
import { presentSubject } from '../presenters/present-subject.ts';
import { listSubjects } from '../queries/subjects.ts';
import type { Dependencies } from './dependencies.ts';
import { readText } from './read-filters.ts';

/** GET /subjects: a bare array, the next page in Link (docs/interface.md, "Lists"). A user's list has themselves alone. */
export function listSubjectsHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { query, principal }) => {
    const limit = readLimit(query.limit);
    const name = readText(query.name);
    const found = await listSubjects(db, {
      name,
      only: isPrivileged(principal) ? undefined : (principal.subject ?? ''),
      after: readCursor(query.cursor, uuidPattern),
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last) {
      const next = new URL(`${instance.baseUrl}/subjects`);
      next.searchParams.set('cursor', writeCursor({ createdAt: last.position, id: last.id }));
      next.searchParams.set('limit', String(limit));
      if (name) next.searchParams.set('name', name);
      ctx.set('Link', `<${next.href}>; rel="next"`);
    }
    ctx.body = page.map(presentSubject);
  };
}
