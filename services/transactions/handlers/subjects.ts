import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { readCursor, readLimit, uuidPattern, writeCursor } from '#lib/http/lists.ts';
import type { Handler } from '#lib/http/operation.ts';
import { isFault, parseLanguage, parseText } from '../domain/values.ts';
import {
  insertSubject,
  listSubjects,
  readSubject,
  readSubjectById,
  type Subject,
  updateSubject,
} from '../queries/subjects.ts';
import { readText } from './filters.ts';
import type { Dependencies } from './handlers.ts';

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

interface SubjectBody {
  name?: string;
  emailAddress?: string | null;
  defaultLanguage?: string | null;
}

/** POST /subjects */
export function createSubjectHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { body, principal }: { body: SubjectBody; principal: Principal }) => {
    const fields = readFields(body, true);
    requireOwn(principal, fields.name as string, 'forbidden');
    const made = await insertSubject(db, {
      name: fields.name as string,
      emailAddress: fields.emailAddress ?? null,
      defaultLanguage: fields.defaultLanguage ?? null,
    });
    if (!made) throw fail('exists', 'There is a subject of that name already.');
    ctx.status = 201;
    ctx.set('Location', `${instance.baseUrl}/subjects/${encodeURIComponent(made.name)}`);
    ctx.body = presentSubject(made);
  };
}

/** GET /subjects/{name} */
export function getSubjectHandler({ db }: Dependencies): Handler {
  return async (ctx, { params, principal }) => {
    const name = readText(params.name) ?? '';
    requireOwn(principal, name, 'not-found');
    const subject = await readSubject(db, name);
    if (!subject) throw noSuchSubject();
    ctx.body = presentSubject(subject);
  };
}

/** PUT /subjects/{id}: what is given is changed, an empty text clears; the name stays, because records go by it. */
export function updateSubjectHandler({ db }: Dependencies): Handler {
  return async (
    ctx,
    { params, body, principal }: { params: Record<string, string>; body: SubjectBody; principal: Principal },
  ) => {
    const id = params.name ?? '';
    const standing = uuidPattern.test(id) ? await readSubjectById(db, id) : undefined;
    if (!standing) throw noSuchSubject();
    requireOwn(principal, standing.name, 'not-found');
    const fields = readFields(body, false);
    if (fields.name !== undefined && fields.name !== standing.name)
      throw fail('invalid', 'The name of a subject cannot be changed.', {
        errors: [{ pointer: '/name', code: 'immutable', detail: 'cannot be changed' }],
      });
    const changed = await updateSubject(db, standing.id, fields);
    if (!changed) throw noSuchSubject();
    ctx.body = presentSubject(changed);
  };
}

function noSuchSubject() {
  return fail('not-found', 'There is no such subject.');
}

function requireOwn(principal: Principal, name: string, code: 'forbidden' | 'not-found'): void {
  if (isPrivileged(principal) || principal.subject === name) return;
  throw code === 'forbidden' ? fail('forbidden', 'You may act for yourself alone.') : noSuchSubject();
}

type Fields = { name?: string } & Partial<Pick<Subject, 'emailAddress' | 'defaultLanguage'>>;

function readFields(body: SubjectBody, needsName: boolean): Fields {
  const faults: Fault[] = [];
  const take = <T>(value: T | Fault): T | undefined => {
    if (!isFault(value)) return value;
    faults.push(value);
    return undefined;
  };
  const fields: Fields = {};
  if (body.name !== undefined || needsName)
    fields.name = take(parseText({ value: body.name ?? '', pointer: '/name' }, 1024));
  if (body.emailAddress !== undefined)
    fields.emailAddress = body.emailAddress ? take(parseEmail(body.emailAddress)) : null;
  if (body.defaultLanguage !== undefined)
    fields.defaultLanguage = body.defaultLanguage
      ? take(parseLanguage({ value: body.defaultLanguage, pointer: '/defaultLanguage' }))
      : null;
  if (faults.length > 0) throw fail('invalid', 'The subject is not valid.', { errors: faults });
  return fields;
}

function parseEmail(text: string): string | Fault {
  const address = text.trim();
  const fine = address.length <= 254 && /^[^\s@<>"]+@[^\s@<>"]+$/.test(address);
  return fine ? address : { pointer: '/emailAddress', code: 'invalid', detail: 'must be an e-mail address' };
}

/** A subject (docs/interface.md); `Timestamp` fields are epoch milliseconds. */
export function presentSubject({ id, name, emailAddress, defaultLanguage, createdAt }: Subject) {
  return {
    id,
    name,
    emailAddress: emailAddress ?? undefined,
    defaultLanguage: defaultLanguage ?? undefined,
    creationTimestamp: createdAt.getTime(),
  };
}
