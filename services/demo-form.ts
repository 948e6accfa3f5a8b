import { randomInt } from 'node:crypto';
import { Failure } from '#lib/errors/fail.ts';

/**
 * Makes a transaction of the demonstration the way a customer's server does: a token of the demo operator, then POST /consents. Each visitor of the
 * first page is a subject of their own.
 * @param address where this process listens; BASE_URL may lead through a proxy.
 * @returns the URL of the form.
 */
export async function createDemoForm(address: string): Promise<string> {
  const signedIn = await fetch(`${address}/auth`, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: 'accord',
      grant_type: 'password',
      username: 'operator',
      password: 'demo',
    }),
  });
  const { access_token } = (await signedIn.json()) as { access_token?: string };
  const response = await fetch(`${address}/consents`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      subject: `visitor-${randomInt(1e9)}`,
      layout: 'layout.001',
      cancellable: true,
      timeout: 'PT1H',
    }),
  });
  const location = response.headers.get('location');
  if (!location) throw new Failure('unavailable', 'The demonstration is not available at the moment.');
  return location;
}
