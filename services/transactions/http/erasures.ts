import Negotiator from 'negotiator';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { type Fault, fail, invalidMember } from '#lib/errors/fail.ts';
import { linkNext, readPage, readTime, uuidPattern } from '#lib/http/lists.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { requireWhole } from '../choices/brought.ts';
import { decideErasure, noSuchErasure, requestErasure } from '../erasure/erase.ts';
import { eraseAtPeers } from '../erasure/erase-at-peers.ts';
import type { Erasure } from '../erasure/erasure.ts';
import { endHold, holdSubject } from '../erasure/hold.ts';
import { listErasures, listRepeatable, type RepeatableErasure, readErasure } from '../erasure/store.ts';
import { ensureSubject, readSubject, readSubjectById, type Subject } from '../person/store.ts';
import { presentErasure, presentHold } from '../present/person.ts';
import { readNotices } from '../sent-parts/notices-store.ts';
import { readNow } from '../transaction/store.ts';
import { isFault, parseText } from '../transaction/values.ts';
import { readNamed } from '../withdrawal/withdrawal-request.ts';
import { redirectToChoices } from './choices.ts';
import type { Dependencies } from './dependencies.ts';
import { firstOf, readText } from './filters.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
const maxText = 1000;

/** /subjects/{name}/hold, /subjects/{name}/erasure, /choices/erasure, /erasures (docs/erasure.md) */
export function erasureHandlers(dependencies: Dependencies) {
  const { db, instance } = dependencies;

  async function present(erasure: Erasure, principal: Principal) {
    const notices = await readNotices(db, [erasure.id]);
    return presentErasure(erasure, notices.get(erasure.id) ?? [], principal);
  }

  /** How the erasures of a subject are found. @param name or id. */
  const subjectOf = (name: string) => ({
    name,
    id: uuidPattern.test(name) ? name : null,
    digests: dependencies.subjectDigest.all(name),
  });

  return {
    async holdSubject(ctx, { params, body }) {
      const subject = await requireSubject(db, params.name);
      const reason = requireText(body.reason ?? '', '/reason');
      const until = await readUntil(db, body.until);
      const hold = await holdSubject(dependencies, subject, {
        reason,
        until,
        restrict: body.restrict === true,
      });
      ctx.body = presentHold(hold);
    },

    async endHold(ctx, { params }) {
      await endHold(dependencies, await requireSubject(db, params.name));
      ctx.status = 204;
    },

    async eraseSubject(ctx, { params, body, principal }) {
      const subject = await requireSubject(db, params.name);
      const given = { state: 'RUNNING', reason: readReason(body) } as const;
      ctx.body = await present(await requestErasure(dependencies, subject, given), principal);
      ctx.status = 202;
    },

    async recordErasureRequest(ctx, { params, body, principal }) {
      const subject = await requireSubject(db, params.name);
      const given = { state: 'REQUESTED', reason: readReason(body), isByStaff: true } as const;
      ctx.body = await present(await requestErasure(dependencies, subject, given), principal);
      ctx.status = 202;
    },

    async requestErasure(ctx, { principal, body, form }) {
      requireWhole(principal.choices);
      const subject = await ensureSubject(db, ownSubject(principal));
      const reason = readReason(body);
      const peers = readNamed(body?.peers, '/peers');
      if (peers && reason !== null)
        throw invalidMember('Peers are told no reason.', '/reason', 'must be absent with peers');
      const erasure = peers
        ? await eraseAtPeers(dependencies, subject, peers)
        : await requestErasure(dependencies, subject, { state: 'REQUESTED', reason });
      if (form) {
        const now = await readNow(db);
        return redirectToChoices(ctx, dependencies, principal, { done: 'erasure', now });
      }
      ctx.body = await present(erasure, principal);
      ctx.status = 202;
    },

    async listErasures(ctx, { query, principal }) {
      ctx.vary('Accept');
      const accept = ctx.get('accept') || '*/*';
      const type = new Negotiator({ headers: { accept } }).mediaType([
        'application/json',
        'application/x-ndjson',
      ]);
      if (type === 'application/x-ndjson') {
        ctx.type = type;
        ctx.body = await writeLines(db);
        return;
      }
      const name = readText(query.subject);
      const of = name === undefined ? undefined : subjectOf(name);
      const found = await readPage(query, (page) => listErasures(db, { ...page, of }), {
        idPattern,
        idOf: ({ id }) => id,
      });
      const { page, next, limit } = found;
      const filter: Record<string, string> = name === undefined ? {} : { subject: name };
      if (next)
        linkNext(ctx, `${instance.baseUrl}/erasures`, { ...filter, cursor: next, limit: String(limit) });
      const ids = page.map(({ id }) => id);
      const notices = await readNotices(db, ids);
      ctx.body = page.map((erasure) => presentErasure(erasure, notices.get(erasure.id) ?? [], principal));
    },

    async getErasure(ctx, { params, principal }) {
      const erasure = await readErasure(db, params.erasure);
      if (!erasure) throw noSuchErasure();
      ctx.body = await present(erasure, principal);
    },

    async decideErasure(ctx, { params, body, principal }) {
      const { status } = body;
      const ground = status === 'REFUSED' ? requireText(body.ground ?? '', '/ground') : null;
      const decided = await decideErasure(dependencies, params.erasure, { status, ground });
      ctx.body = await present(decided, principal);
    },
  } satisfies OperationHandlers;
}

/** The subject with this name, else with this id. @throws Failure `not-found`. */
async function requireSubject(db: Database, nameOrId: string): Promise<Subject> {
  const name = readText(nameOrId) ?? '';
  const subject =
    (await readSubject(db, name)) ?? (uuidPattern.test(name) ? await readSubjectById(db, name) : undefined);
  if (!subject) throw fail('not-found', 'Subject not found.');
  return subject;
}

function ownSubject({ subject }: Principal): string {
  if (subject === undefined) throw fail('invalid', 'The caller has no subject.');
  return subject;
}

function requireText(value: string, pointer: string): string {
  const text = parseText({ value, pointer }, maxText);
  if (isFault(text)) throw fail('invalid', 'The body is not valid.', { errors: [text] });
  return text;
}

function readReason(body: { reason?: string | string[] } | undefined): string | null {
  const reason = firstOf(body?.reason);
  return reason === undefined || reason.trim() === '' ? null : requireText(reason, '/reason');
}

async function readUntil(db: Database, given: string | undefined): Promise<Date | null> {
  const faults: Fault[] = [];
  const until = readTime(given, 'until', faults);
  if (faults.length > 0) throw fail('invalid', 'The hold is not valid.', { errors: faults });
  if (until && until <= (await readNow(db)))
    throw invalidMember('The hold is not valid.', '/until', 'must be in the future');
  return until ?? null;
}

const linesPerRead = 1_000;

/** A line for each erasure that may have to be repeated after a restore. */
async function writeLines(db: Database): Promise<string> {
  const lines: string[] = [];
  for (let after: RepeatableErasure | undefined; ; ) {
    const read = await listRepeatable(db, { after, limit: linesPerRead });
    lines.push(...read.map((erasure) => `${JSON.stringify(erasure)}\n`));
    const last = read.at(-1);
    if (!last || read.length < linesPerRead) return lines.join('');
    after = last;
  }
}
