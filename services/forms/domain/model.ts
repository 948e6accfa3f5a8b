import type { AnswerableType } from '#lib/contracts/forms.ts';
import { fail } from '#lib/errors/fail.ts';

/** The types of models (docs/interface.md, "Terms"). */
export const modelTypes = [
  'information',
  'processing',
  'preference',
  'conditions',
  'layout',
  'theme',
  'email',
] as const;
export type ModelType = (typeof modelTypes)[number];

/** Statuses of versions that `GET /models?uses=` looks at. */
export const usingStatuses = ['ACTIVE', 'DRAFT'] as const;

export const entryStatuses = ['INACTIVE', 'ACTIVE', 'DELETED'] as const;
export type EntryStatus = (typeof entryStatuses)[number];
export type VersionStatus = 'DRAFT' | 'ACTIVE' | 'ARCHIVED';
export type VersionKind = 'MAJOR' | 'MINOR';

const answerableTypes: ReadonlySet<string> = new Set(['processing', 'preference', 'conditions']);

/** Whether models of a type are elements, which have answers. */
export function isAnswerable(type: string): type is AnswerableType {
  return answerableTypes.has(type);
}

export function isModelType(text: unknown): text is ModelType {
  return (modelTypes as readonly unknown[]).includes(text);
}

export function isVersionStatus(text: unknown): text is VersionStatus {
  return text === 'DRAFT' || text === 'ACTIVE' || text === 'ARCHIVED';
}

/** The status changes that clients may request (docs/interface.md, "Models"). */
export function mayMove(from: VersionStatus, to: VersionStatus): boolean {
  return (from === 'DRAFT' && to === 'ACTIVE') || (from === 'ACTIVE' && to === 'ARCHIVED');
}

/** Content by language, as it was checked and stored. */
export type VersionData = Record<string, Record<string, unknown>>;

/**
 * The content of a version in a language.
 * @template Content what versions of this type have. Stored content was checked (check-content.ts).
 */
export function contentIn<Content>(data: VersionData, language: string): Content {
  // biome-ignore lint/plugin: the type of the entry says what its content is.
  return data[language] as unknown as Content;
}

/** The stable identity of a model. */
export interface Entry {
  id: string;
  key: string;
  type: ModelType;
  name: string;
  description: string | null;
  shared: boolean;
  sharedWith: string[];
  status: EntryStatus;
  isDefault: boolean;
  /** Records may exist. */
  answered: boolean;
  lastMajor: number;
  lastMinor: number;
  activeVersion: string | null;
  revision: number;
  createdAt: Date;
  modifiedAt: Date;
}

/** Content of an entry; its numbers are null while it is a draft. */
export interface Version {
  id: string;
  model: string;
  status: VersionStatus;
  kind: VersionKind;
  /** Why it is of this kind, as its author has said. */
  reason: string | null;
  major: number | null;
  minor: number | null;
  defaultLanguage: string;
  data: VersionData;
  revision: number;
  createdAt: Date;
  modifiedAt: Date;
}

/** A version without its content. */
export type VersionSummary = Omit<Version, 'data'> & { languages: string[] };

/** The entity tag of a revision (RFC 9110 §8.8.3). */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/**
 * If-Match (RFC 9110 §13.1.1): optional here. Compared strongly, so a weak tag never matches.
 * @throws Failure `precondition-failed`.
 */
export function checkPrecondition(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!tags.includes(entityTag(revision)))
    throw fail(
      'precondition-failed',
      'It has been changed since you read it: read it again, then repeat your change.',
    );
}

/** Orders of a list of models; `-modificationDate` is newest first. */
export const modelOrders = ['key', 'name', '-modificationDate'] as const;
export type ModelOrder = (typeof modelOrders)[number];

/** A place in a list of models: the value that the list is sorted by, and the id among equal values. */
export interface ModelPosition {
  value: string;
  id: string;
}
