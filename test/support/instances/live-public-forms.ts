import { expect } from 'vitest';
import type { Caller, Reachable } from './callers.ts';
import { makeLiveModel } from './live-models.ts';
import { type LiveSubject, subjectOf } from './live-subject.ts';

/** A form with an address of its own. @param content more of the layout. @returns its path. */
export async function publishForm(
  admin: Caller,
  form: Record<string, unknown>,
  content: Record<string, unknown>,
): Promise<string> {
  return `/f/${(await makeLiveModel(admin, 'layout', { en: { type: 'layout', public: form, ...content } })).key}`;
}

/** Presses the button of the page at the address of a form. */
export function beginAt(
  instance: Reachable,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  return instance.fetch(path, {
    method: 'POST',
    headers: { Accept: 'text/html', ...headers },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
}

/** The person who was led to a form by {@link beginAt}. */
export function ledTo(
  instance: Reachable,
  response: Response,
): { id: string; token: string; person: LiveSubject } {
  expect(response.status).toBe(303);
  const [, id = '', token = ''] =
    /\/consents\/([^/]+)\/submit\?t=(.+)$/.exec(response.headers.get('location') ?? '') ?? [];
  return { id, token, person: subjectOf(instance, { id, token }) };
}
