import type { Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { checkContent, checkMinor, type GivenContent, isGap } from '../domain/check-content.ts';
import { type LayoutContent, layoutUses } from '../domain/content/layout.ts';
import { parseReference } from '../domain/identifiers.ts';
import { contentIn, type ModelType, type Version } from '../domain/model.ts';
import { adviseOn, checkNotice, type NoticePoint } from '../domain/notice-check.ts';
import { namedByPeer, resolveLayout } from '../domain/resolve-layout.ts';
import { lockNamed } from '../queries/models.ts';
import { readPeerRows } from '../queries/read-peers.ts';
import { type DraftContent, readLastActivated } from '../queries/versions.ts';
import { findMissingLogos } from './logos.ts';
import { type Dependencies, findModel, findVersion, type VersionPath } from './model-access.ts';

/** Content to store, and what it still lacks; `faults` is empty unless it may be incomplete. */
export interface CheckedDraft {
  content: DraftContent;
  faults: Fault[];
}

/**
 * Checks the content of a draft.
 * @param incomplete whether members may be missing, or different between languages.
 * @throws Failure `invalid` with every fault that is not allowed.
 */
export async function readDraft(
  tx: Queries,
  type: ModelType,
  given: GivenContent,
  incomplete: boolean,
): Promise<CheckedDraft> {
  const { data, faults } = await checkContent(type, given, incomplete);
  if (type === 'theme') faults.push(...(await findMissingLogos(tx, data)));
  const errors = incomplete ? faults.filter((fault) => !isGap(fault)) : faults;
  if (errors.length > 0) throw fail('invalid', 'The content is not valid.', { errors });
  return { content: { defaultLanguage: given.defaultLanguage, data, uses: layoutUses(type, data) }, faults };
}

/** The faults for which a stored draft cannot be activated, whether as a MAJOR or a MINOR. */
export async function findDraftFaults(tx: Queries, type: ModelType, draft: Version): Promise<Fault[]> {
  const { data, faults } = await checkContent(type, draft, true);
  if (type === 'theme') faults.push(...(await findMissingLogos(tx, data)));
  return faults;
}

/**
 * Faults of a layout whose references do not resolve. The entries that it names must exist; whether they are
 * ACTIVE is checked when the layout is used. They are locked against deletion until the end of the
 * transaction.
 */
export async function findReferenceFaults(tx: Queries, { data, defaultLanguage }: Version): Promise<Fault[]> {
  const content = contentIn<LayoutContent>(data, defaultLanguage);
  const at = `/data/${defaultLanguage}`;
  const pointers = {
    info: `${at}/info`,
    elements: content.elements.map((_, index) => `${at}/elements/${index}`),
  };
  const { info, elements, notification } = content;
  const named = await lockNamed(tx, [...elements, ...[info, notification].flatMap((key) => key || [])]);
  const references = content.elements.flatMap((text) => parseReference(text) ?? []);
  const existing = [
    ...named.map((each) => (each.status === 'DELETED' ? each : { ...each, status: 'ACTIVE' as const })),
    ...(await readPeerRows(tx, references)).map(namedByPeer),
  ];
  // A missing default information is reported when the layout is used: it is not a fault of the layout.
  return resolveLayout(content, existing, pointers).faults.filter(({ code }) => code !== 'required');
}

/** What an activation of a draft would be rejected for. */
export interface DraftCheck {
  faults: Fault[];
  /** What people would not be told, or be told wrongly; absent if there is nothing. */
  advice?: Fault[];
  /** What the law expects of it, as far as it concerns the draft. */
  checklist: NoticePoint[];
  /** Whether it may become a MINOR. The first version of an entry is always a MAJOR. */
  minor: { allowed: boolean; errors: Fault[] };
}

/** @throws Failure `not-found`, `wrong-state` unless the version is a draft. */
export async function checkDraft({ db }: Pick<Dependencies, 'db'>, path: VersionPath): Promise<DraftCheck> {
  const { id, type } = await findModel(db, path.model);
  const draft = await findVersion(db, path);
  if (draft.status !== 'DRAFT') throw fail('wrong-state', 'Only a draft can be checked.');
  const former = await readLastActivated(db, id);
  const errors = former ? checkMinor(type, former.data, draft.data) : [];
  const advice = adviseOn(type, draft.data);
  return {
    faults: await db.withTransaction((tx) => findActivationFaults(tx, type, draft)),
    ...(advice.length > 0 && { advice }),
    checklist: checkNotice(type, draft.data),
    minor: { allowed: former !== undefined && errors.length === 0, errors },
  };
}

async function findActivationFaults(tx: Queries, type: ModelType, draft: Version): Promise<Fault[]> {
  const faults = await findDraftFaults(tx, type, draft);
  if (type !== 'layout' || faults.length > 0) return faults;
  return findReferenceFaults(tx, draft);
}
