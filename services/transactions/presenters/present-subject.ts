import type { Subject } from '../queries/subjects.ts';

/** A subject (decisions.md §4); `Date` fields are epoch milliseconds. */
export function presentSubject({ id, name, emailAddress, defaultLanguage, createdAt, modifiedAt }: Subject) {
  return {
    id,
    name,
    emailAddress: emailAddress ?? undefined,
    defaultLanguage: defaultLanguage ?? undefined,
    creationDate: createdAt.getTime(),
    modificationDate: modifiedAt.getTime(),
  };
}
