import { type AuditEntry, recordAction } from '#lib/audit/record-action.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { type PageRequest, sendList, uuidPattern } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { replaceContact } from '../person/contacts-sql.ts';
import {
  insertSubject,
  listSubjects,
  readSubject,
  readSubjectById,
  type Subject,
  updateSubject,
} from '../person/store.ts';
import { presentHold, presentSubject } from '../present/person.ts';
import { readHold } from '../standing/holds-store.ts';
import { readKnownNumber } from '../transaction/newest-contact.ts';
import { invalid, isFault, parseLanguage, parseSubject } from '../transaction/values.ts';
import type { Dependencies } from './dependencies.ts';
import { listOf, readText } from './filters.ts';

type SubjectBody = Input<'createSubject' | 'updateSubject'>['body'];

const maxIds = 200;

/** Ids of subjects in the query; others match no subject. @throws Failure `invalid` for too many. */
function readIds(given: readonly string[] | undefined): string[] | undefined {
  const ids = listOf(given);
  if (ids && ids.length > maxIds)
    throw fail('invalid', 'The query is not valid.', {
      errors: [invalid('/ids', `must be at most ${maxIds} ids`)],
    });
  return ids?.filter((id) => uuidPattern.test(id));
}

/** /subjects */
export function subjectHandlers({ db, instance }: Dependencies) {
  return {
    /** An array, with the next page in Link (docs/interface.md, "Lists"). Plain users see only themselves. */
    async listSubjects(ctx, { query, principal }) {
      const name = readText(query.name);
      const only = isPrivileged(principal) ? undefined : (principal.subject ?? '');
      const contact = readText(query.contact);
      const ids = readIds(query.ids);
      const sought = { ...(name && { name }), ...(contact && { contact }) };
      const parameters = { ...sought, ...(ids && { ids: ids.join(',') }) };
      const find = (page: PageRequest) => listSubjects(db, { ...sought, ...(ids && { ids }), only, ...page });
      const url = `${instance.baseUrl}/subjects`;
      await sendList(ctx, query, { url, parameters, find, present: presentSubject });
    },

    async createSubject(ctx, { body, principal }) {
      const { name = '', emailAddress = null, defaultLanguage = null } = readFields(body, true);
      if (!isOwn(principal, name)) throw fail('forbidden', 'You may only create yourself as a subject.');
      const created = await db.withTransaction(async (tx) => {
        const inserted = await insertSubject(tx, {
          name,
          emailAddress,
          defaultLanguage,
          isProven: isPrivileged(principal),
        });
        if (!inserted) throw fail('exists', 'A subject with this name exists already.');
        await recordChange(tx, principal, { action: 'subject.created', target: `subject/${inserted.id}` });
        return inserted;
      });
      ctx.status = 201;
      ctx.set('Location', `${instance.baseUrl}/subjects/${encodeURIComponent(created.name)}`);
      ctx.body = presentSubject(created);
    },

    async getSubject(ctx, { params, principal }) {
      const name = readText(params.name) ?? '';
      const named = isOwn(principal, name) ? await readSubject(db, name) : undefined;
      const isId = !named && isPrivileged(principal) && uuidPattern.test(name);
      const subject = isId ? await readSubjectById(db, name) : named;
      if (!subject) throw noSuchSubject();
      const known = presentSubject(subject);
      if (!isPrivileged(principal)) {
        ctx.body = known;
        return;
      }
      const [hold, phoneNumber] = await Promise.all([
        readHold(db, subject.name),
        readKnownNumber(db, subject.name),
      ]);
      ctx.body = { ...known, phoneNumber, hold: hold && presentHold(hold) };
    },

    /** Changes the members that are present; an empty text clears. */
    async updateSubject(ctx, { params, body, principal }) {
      const id = params.name;
      const subject = uuidPattern.test(id) ? await readSubjectById(db, id) : undefined;
      if (!subject || !isOwn(principal, subject.name)) throw noSuchSubject();
      const fields = readFields(body, false);
      if (fields.name !== undefined && fields.name !== subject.name)
        throw fail('invalid', 'The name of a subject cannot be changed.', {
          errors: [{ pointer: '/name', code: 'immutable', detail: 'cannot be changed' }],
        });
      const changed = await db.withTransaction(async (tx) => {
        const updated = await updateSubject(tx, subject.id, fields);
        if (!updated) throw noSuchSubject();
        const { emailAddress } = fields;
        if (emailAddress !== undefined)
          await replaceContact(tx, subject.name, {
            address: emailAddress,
            former: subject.emailAddress,
            isProven: isPrivileged(principal),
          });
        await recordChange(tx, principal, { action: 'subject.updated', target: `subject/${id}` });
        return updated;
      });
      ctx.body = presentSubject(changed);
    },
  } satisfies OperationHandlers;
}

/** Records what somebody else than the subject changes. */
async function recordChange(tx: Queries, principal: Principal, entry: AuditEntry): Promise<void> {
  if (isPrivileged(principal)) await recordAction(tx, entry);
}

function noSuchSubject() {
  return fail('not-found', 'Subject not found.');
}

function isOwn(principal: Principal, name: string): boolean {
  return isPrivileged(principal) || principal.subject === name;
}

type Fields = { name?: string } & Partial<Pick<Subject, 'emailAddress' | 'defaultLanguage'>>;

/** @throws Failure `invalid` with a pointer for each fault. */
function readFields(body: SubjectBody, needsName: boolean): Fields {
  const faults: Fault[] = [];
  const take = <T>(value: T | Fault): T | undefined => {
    if (!isFault(value)) return value;
    faults.push(value);
    return undefined;
  };
  const fields: Fields = {};
  if (body.name !== undefined || needsName)
    fields.name = take(parseSubject({ value: body.name ?? '', pointer: '/name' }));
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
  const isValid = address.length <= 254 && /^[^\s@<>"]+@[^\s@<>"]+$/.test(address);
  return isValid ? address : invalid('/emailAddress', 'must be an e-mail address');
}
