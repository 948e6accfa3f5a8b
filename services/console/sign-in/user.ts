import { fail } from '#lib/errors/fail.ts';
import type { Schemas } from '../api/api-types.ts';

const timeoutMs = 10_000;

/** The person of an access token, as the API knows them. @throws Failure if the API refuses the token. */
export async function readUser(
  apiUrl: string,
  accessToken: string,
): Promise<{ name: string; roles: readonly string[] }> {
  const response = await fetch(`${apiUrl}/user`, {
    headers: { Authorization: `Bearer ${accessToken}`, Accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw fail('unavailable', 'The API does not answer. Please try again.', {
      cause,
      headers: { 'Retry-After': '5' },
    });
  });
  if (response.status === 200) {
    const { name, roles } = (await response.json()) as Schemas['User'];
    return { name, roles };
  }
  const cause = new Error(`GET /user answered with ${response.status}`);
  if (response.status === 401 || response.status === 403)
    throw fail('forbidden', 'Your account may not use this instance. Please ask its administrator.', {
      cause,
    });
  throw fail('unavailable', 'The API does not answer. Please try again.', {
    cause,
    headers: { 'Retry-After': '5' },
  });
}
