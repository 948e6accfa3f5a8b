import type { Subject } from '../queries/subjects.ts';

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
