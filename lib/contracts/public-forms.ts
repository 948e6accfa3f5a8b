import type { components } from '#lib/contracts/openapi.gen.ts';

/** How a form with an address of its own is answered (openapi.yaml, `PublicForm`). */
export type PublicForm = components['schemas']['PublicForm'];

/** The page of a form with an address of its own. @param baseUrl BASE_URL. @param key of its layout. */
export function publicFormUrl(baseUrl: string, key: string): string {
  return `${baseUrl}/f/${encodeURIComponent(key)}`;
}

/** Subject of a person who does not say who it is. @param id random, as of a transaction. */
export function anonymousSubject(id: string): string {
  return `anonymous:${id}`;
}

/** Whether a subject is one of {@link anonymousSubject}: only a receipt leads back to its answers. */
export function isAnonymousSubject(subject: string): boolean {
  return /^anonymous:[1-9A-HJ-NP-Za-km-z]{22}$/.test(subject);
}
